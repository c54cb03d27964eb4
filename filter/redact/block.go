package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// keyBlock is the state of a PEM private key that began on an earlier line.
type keyBlock struct {
	open    bool
	counted bool // it was counted as found
	width   int  // bytes of a full line of the body; 0 before the first
	short   bool // a line of the body was shorter, so it was the last
	sep     byte // the byte before the body on each line; 0 means none
}

// marker looks for the begin or the end of a private key after dashes.
func (m *Stream) marker(l []byte, at int) {
	for at < len(l) && l[at] == ' ' {
		at++
	}
	const begin, end = "BEGIN ", "END "
	var open bool
	switch rest := l[at:]; {
	case text.HasAnyPrefix(rest, begin):
		open = true
		at += len(begin)
	case !text.HasAnyPrefix(rest, end):
		return
	}
	dashes := bytes.Index(l[at:min(len(l), at+80)], []byte("----"))
	if dashes < 0 || !bytes.Contains(l[at:at+dashes], []byte("PRIVATE KEY")) {
		return
	}
	if !open {
		m.ended(l, at)
		return
	}
	at += dashes
	for at < len(l) && l[at] == '-' {
		at++
	}
	m.Release()
	m.block = keyBlock{open: true}
	const most = 16 // a line with more of them holds no keys
	if m.begins++; m.begins > most {
		return
	}
	rest := l[at:]
	if stop := bytes.Index(rest, []byte("-----END")); stop >= 0 {
		rest = rest[:stop]
		m.block.open = false
	} else if stop := bytes.Index(rest, []byte("---- END")); stop >= 0 {
		rest = rest[:stop]
		m.block.open = false
	} else if stop := bytes.IndexAny(rest, "\"'`<"); stop >= 0 {
		rest = rest[:stop]
	}
	if isBulky(rest) && !isMask(rest) {
		m.hit(at, at+len(rest), privateKey)
	}
	m.block.counted = isBulky(rest)
}

// isBulky reports whether a text has enough Base64 to be part of a key.
func isBulky(body []byte) bool {
	const least = 16
	n := 0
	for _, b := range body {
		if text.Base64Set[b] {
			n++
		}
	}
	return n >= least && 4*n >= 3*len(body)
}

// ended masks the text before the end of a private key whose begin is missing.
// at is the index of the marker.
func (m *Stream) ended(l []byte, at int) {
	from := at
	for from > 0 && (l[from-1] == '-' || l[from-1] == ' ') {
		from--
	}
	if start := escapedFrom(l[:from]); !m.block.open && isBulky(l[start:from]) && !bytes.Contains(l[start:from], []byte(maskBegin)) && bytes.IndexByte(l[start:from], '-') < 0 {
		m.hit(start, from, privateKey)
	} else {
		m.maskHeld()
	}
	m.block = keyBlock{}
}

// escapedFrom returns the start of the Base64 at the end of a text. Its line
// ends may be escaped.
func escapedFrom(body []byte) int {
	from := len(body)
	for from > 0 && (text.Base64Set[body[from-1]] || body[from-1] == '\\') {
		from--
	}
	return from
}

// inBlock looks for the body of a private key on a line after its begin.
func (m *Stream) inBlock(l []byte) {
	b := &m.block
	from, to := keyBody(l)
	run := l[from:to]
	switch prefix := l[:from]; {
	case bytes.Contains(l, []byte("---- END")), bytes.Contains(l, []byte("-----END")): // handled by marker
		end := bytes.Index(l, []byte("----"))
		if text := bytes.TrimLeft(l[:end], " \t"); isBulky(text) && !isMask(text) {
			m.hit(end-len(text), end, privateKey)
			m.again()
		}
		return
	case endsMasked(l):
		return
	case b.width == 0 && keyHeader(l):
		return
	case len(run) == 0, b.short && run[0] != '=':
	case b.width == 0:
		if len(run) >= 16 && (len(run) >= 40 || len(bytes.TrimSpace(prefix)) == 0) && len(prefix) <= 120 {
			b.width = len(run)
			b.sep = lastByte(prefix)
			m.hit(from, to, privateKey)
			m.again()
			return
		}
	case len(run) <= b.width+2 && (len(run) >= b.width && len(prefix) <= 120 || lastByte(prefix) == b.sep):
		b.short = len(run) < b.width
		if len(run) >= minValue {
			m.hit(from, to, privateKey)
			m.again()
		}
		return
	case bulkyLine(l): // the whole body on one line
		m.hit(0, len(l), privateKey)
		m.again()
		return
	}
	b.open = false
}

func bulkyLine(l []byte) bool {
	return len(l) > 100 && isBulky(l) && bytes.IndexByte(l, ' ') < 0
}

// again counts the lines of one key once.
func (m *Stream) again() {
	if m.block.counted {
		m.found[privateKey]--
	}
	m.block.counted = true
}

func lastByte(prefix []byte) byte {
	if len(prefix) == 0 {
		return 0
	}
	if b := prefix[len(prefix)-1]; b != '\t' {
		return b
	}
	return ' '
}

// endsMasked reports whether a line ends in a mask.
func endsMasked(l []byte) bool {
	l = untrailed(l)
	if i := bytes.LastIndex(l, []byte(maskBegin)); i >= 0 {
		return bytes.IndexByte(l[i:], ']') == len(l)-i-1
	}
	return len(l) > 0 && l[len(l)-1] == '*'
}

// keyHeader reports whether a line can stand between the begin of a key and its
// body.
func keyHeader(l []byte) bool {
	i := bytes.Index(l, []byte(": "))
	return len(bytes.TrimSpace(l)) == 0 || i > 0 && i < 40 && bytes.IndexByte(bytes.TrimSpace(l[:i]), ' ') < 0
}

// untrailed removes the marks that a program prints after a line of a text,
// such as quotes.
func untrailed(l []byte) []byte {
	for len(l) > 0 {
		n := len(l)
		switch b := l[n-1]; {
		case b == ' ' || b == '\t' || b == '\r' || b == '"' || b == '\'' || b == ',' || b == ';' || b == ')' || b == '\\' || b == '`':
			l = l[:n-1]
		case n > 1 && (b == 'n' || b == 'r') && l[n-2] == '\\':
			l = l[:n-2]
		case n > 1 && b == '+' && (l[n-2] == ' ' || l[n-2] == '"' || l[n-2] == '\''):
			l = l[:n-1]
		default:
			return l
		}
	}
	return l
}

// keyBody returns the bounds of the Base64 at the end of a line.
func keyBody(l []byte) (from, to int) {
	l = untrailed(l)
	from = len(l)
	for from > 0 && text.Base64Set[l[from-1]] {
		from--
	}
	if from == 0 && len(l) > 1 && l[0] == '+' { // a line of a diff
		from = 1
	}
	return from, len(l)
}

// heldLines are lines that may belong to a private key whose begin is missing.
// Only the end of the key shows whether they do.
type heldLines struct {
	text []byte
	ends []int // the end of each line in text
}

// maxHeldKey limits the held lines, in bytes. The largest keys are smaller.
const maxHeldKey = 32 << 10

// holds reports whether it holds a line back. If not, it passes on the held
// lines.
func (m *Stream) holds(l []byte) bool {
	if !mayBeBody(l, len(m.held.ends) > 0) || m.block.open {
		if len(m.held.ends) > 0 {
			m.Release()
		}
		return false
	}
	if len(m.held.text)+len(l) > maxHeldKey {
		m.Release()
	}
	m.held.text = append(m.held.text, l...)
	m.held.ends = append(m.held.ends, len(m.held.text))
	return true
}

// mayBeBody reports whether a line may belong to the body of a key. If more, it
// follows such a line and may be short.
func mayBeBody(l []byte, more bool) bool {
	const long = 40
	n := len(l)
	switch {
	case n < 4 || l[n-1] <= ' ':
		return false
	case n >= long:
		if !text.Base64Set[l[n-long/2]] || !text.Base64Set[l[n-long/4]] {
			return false
		}
	case !more && !(text.Base64Set[l[0]] && text.Base64Set[l[n/2]] && text.Base64Set[l[n/4]] && text.Base64Set[l[3*n/4]]):
		return false
	}
	from, to := keyBody(l)
	return to-from >= long || to > from && from <= 1 || more && to-from >= 4
}

// Release passes on the held lines.
func (m *Stream) Release() {
	from := 0
	for _, end := range m.held.ends {
		l := m.held.text[from:end:end]
		m.pass(l, m.seen.hash(l))
		from = end
	}
	m.held.text, m.held.ends = m.held.text[:0], m.held.ends[:0]
}

// maskHeld masks the held lines and passes them on.
func (m *Stream) maskHeld() {
	from, counted := 0, false
	for _, end := range m.held.ends {
		l := m.held.text[from:end]
		from = end
		if at, to := keyBody(l); to-at >= minValue && !endsMasked(l) {
			m.spare = append(m.spare[:0], l[:at]...)
			m.spare = appendMask(m.spare, privateKey, to-at)
			l = append(m.spare, l[to:]...)
			m.spare = l
			if !counted {
				counted = true
				m.found[privateKey]++
			}
		}
		m.pass(l, m.seen.hash(l))
	}
	m.held.text, m.held.ends = m.held.text[:0], m.held.ends[:0]
}

// encodedKey returns the end of a PEM private key that is encoded in Base64.
func encodedKey(l []byte, from, body int) int {
	if !tokenStart(l, from) {
		return 0
	}
	head := l[from:text.Base64Set.Run(l[:min(len(l), from+64)], body)]
	var plain [48]byte
	n, _ := base64.StdEncoding.Decode(plain[:], head[:len(head)/4*4])
	if !bytes.Contains(plain[:n], []byte("PRIVATE KEY")) {
		return 0
	}
	return text.Base64Set.Run(l, body)
}
