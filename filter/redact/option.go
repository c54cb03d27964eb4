package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// scanDash looks for an option or the marker of a key.
func (m *Stream) scanDash(l []byte, i int) int {
	end := i + 1
	for end < len(l) && l[end] == '-' {
		end++
	}
	switch n := end - i; {
	case n >= 4:
		m.scanKeyMarker(l, end)
	case end == len(l):
	case i > 0 && text.AlnumSet[l[i-1]]:
	case n == 2:
		m.scanOption(l, end, weakName)
	case n == 1 && text.NameSet.RunEnd(l, end) > end+4: // -storepass VALUE
		m.scanOption(l, end, tokenName)
	}
	return end - 1
}

// scanOption looks for the value of an option whose name is that of a credential: --token VALUE,
// ["--password", "VALUE"]. Options of certain commands are rules.
func (m *Stream) scanOption(l []byte, from int, least nameClass) {
	to := text.NameSet.RunEnd(l, from)
	if to == len(l) || l[to] != ' ' && !(isQuote(l[to]) && bytes.HasSuffix(bytes.TrimRight(l[:from], "-"), l[to:to+1])) {
		return
	}
	n := classifyName(l[from:to])
	if n < least {
		return
	}
	at := to
	if isQuote(l[to]) {
		at = to + 1
		if at < len(l) && l[at] == ',' {
			at++
		}
	}
	v := valueFrom(l, at)
	if value := l[v.from:v.to]; len(value) > 0 && value[0] != '-' && isBelievable(value, n, form{quoted: v.quoted}) {
		m.addHit(v.from, v.to, kindOfName(l[from:to]))
	}
}

// scanPiped looks for a password that echo or printf writes to a command that
// reads one: echo PASSWORD | docker login --password-stdin.
func (m *Stream) scanPiped(l []byte, i, _ int) {
	bar := bytes.LastIndexByte(l[:i], '|')
	if bar < 0 {
		return
	}
	before := l[:bar]
	at := max(bytes.LastIndex(before, []byte("echo ")), bytes.LastIndex(before, []byte("printf ")))
	if at < 0 {
		return
	}
	if words := bytes.Fields(before[at:]); len(words) > 1 && len(words) < 4 {
		word := words[len(words)-1]
		if _, password, ok := bytes.Cut(word, []byte(":")); ok && bytes.HasPrefix(l[i:], []byte("chpasswd")) { // chpasswd
			word = bytes.TrimRight(password, "\"'")
		}
		from := bytes.LastIndex(before, word)
		from, to := withoutQuotes(l, from, from+len(word))
		if isBelievable(l[from:to], passwordName, quotedForm) {
			m.addHit(from, to, namedSecret)
		}
	}
}

// scanCell looks for a value in a cell of a table, if the cell before it is the name of a
// credential. The border between them begins at from and ends at body.
func (m *Stream) scanCell(l []byte, from, body int) {
	end := len(bytes.TrimRight(l[:from], " "))
	start := nameStart(l, end)
	n := classifyName(l[start:end])
	if last := bytes.Trim(l[body:], " |\u2502"); classifyName(last) >= tokenName { // the name of the last column
		m.beginTable(l)
		return
	}
	if before := bytes.TrimRight(l[:start], " "); n < tokenName || len(before) > 0 && !bytes.HasSuffix(before, []byte("|")) && !bytes.HasSuffix(before, []byte("\u2502")) {
		return
	}
	m.beginTable(l)
	cell := l[body:]
	if bar := bytes.IndexAny(cell, "|\u2502"); bar >= 0 {
		cell = cell[:bar]
	}
	from = body + len(cell) - len(bytes.TrimLeft(cell, " "))
	if cell = bytes.TrimSpace(cell); len(cell) == 0 || bytes.IndexByte(cell, ' ') >= 0 {
		return
	}
	if n == passwordName {
		m.addIfLikely(l, from, from+len(cell))
	} else if isBelievable(cell, n, bareForm) {
		m.addHit(from, from+len(cell), namedSecret)
	}
}
