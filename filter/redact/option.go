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
		if n == 1 && text.HasAnyPrefix(l[end:], "us") {
			m.scanMailchimpKey(l, i)
		}
	case n == 2:
		m.scanOption(l, end)
	case n == 1 && (i == 0 || !text.AlnumSet[l[i-1]]):
		m.scanShortOption(l, i)
	}
	return end - 1
}

// scanOption looks for the value of a long option.
func (m *Stream) scanOption(l []byte, from int) {
	to := text.NameSet.RunEnd(l, from)
	if to == len(l) || l[to] != ' ' && !isQuote(l[to]) {
		return
	}
	n := classifyName(l[from:to])
	if n == otherName && !(equalFold(l[from:to], "user") && runsCommand(l[:from], "curl")) {
		return
	}
	at := to
	if isQuote(l[to]) { // ["--password", "..."]
		at = to + 1
		if at < len(l) && l[at] == ',' {
			at++
		}
	}
	v := valueFrom(l, at)
	if n == otherName {
		m.scanUserPassword(l, v)
		return
	}
	if value := l[v.from:v.to]; len(value) > 0 && value[0] != '-' && isBelievable(value, n, form{quoted: v.quoted}) {
		m.addHit(v.from, v.to, kindOfName(l[from:to]))
	}
}

// scanShortOption looks for a password after a short option, by the command.
func (m *Stream) scanShortOption(l []byte, i int) {
	if i+2 >= len(l) {
		return
	}
	at := i + 2
	switch line := l[:i]; l[i+1] {
	case 'u':
		if l[at] != ' ' || !runsCommand(line, "curl") {
			return
		}
		m.scanUserPassword(l, valueFrom(l, at))
		return
	case 'p':
		if !runsCommand(line, "sshpass") &&
			(l[at] == ' ' && !runsCommand(line, "docker login") && !runsCommand(line, "az login") ||
				l[at] != ' ' && !runsCommand(line, "mysql")) {
			return
		}
	case 'a':
		if l[at] != ' ' || !runsCommand(line, "redis-cli") {
			return
		}
	case 'w':
		if l[at] != ' ' || !runsCommand(line, "ldap") {
			return
		}
	default:
		return
	}
	if v := valueFrom(l, at); isBelievable(l[v.from:v.to], passwordName, quotedForm) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// scanUserPassword looks for the password in user:password.
func (m *Stream) scanUserPassword(l []byte, v assignedValue) {
	colon := bytes.IndexByte(l[v.from:v.to], ':')
	if at := v.from + colon + 1; colon > 0 && isBelievable(l[at:v.to], passwordName, dataForm) {
		m.addHit(at, v.to, namedSecret)
	}
}

// runsCommand reports whether the text before an option runs a command.
func runsCommand(line []byte, command string) bool {
	const longest = 400
	line = line[max(0, len(line)-longest):]
	i := bytes.LastIndex(line, []byte(command))
	return i >= 0 && !bytes.ContainsAny(line[i:], "|;`<>(){}")
}
