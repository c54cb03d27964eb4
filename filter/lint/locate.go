package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// position is a place in a file, and the rest of the line about it.
type position struct {
	sev         severity
	hasSeverity bool   // the line names its severity
	fromLinter  bool   // only linters write lines of this form
	leadsIn     bool   // the line leads to a diagnostic
	file        []byte // the name of the file
	pos         []byte // the text after file: ":1:2"
	rule        []byte // empty if the line names no rule
	msg         []byte
	pretty      bool // "file:1:2 - error": blank lines separate its code
	isRelated   bool // "file:1:2 - text": a further place of the last diagnostic
}

// maxFileName limits the text before a position, in bytes.
const maxFileName = 400

// locate parses a line that begins with a place in a file.
func locate(l []byte) (p position, ok bool) {
	l = bytes.TrimRight(text.Unindent(l), " ")
	l = p.parsePrefix(l)
	head := l[:min(len(l), maxFileName)]
	colon, paren := indexAfter(head, 0, ':'), indexAfter(head, 0, '(')
	for colon < len(head) || paren < len(head) {
		i, b := min(colon, paren), byte(':')
		if i == colon {
			colon = indexAfter(head, i, b)
		} else {
			b = '('
			paren = indexAfter(head, i, b)
		}
		n, rest := positionAt(l[i:])
		if n == 0 {
			continue
		}
		p.file, p.pos = l[:i], l[i:i+n]
		if b == ':' && i == 1 || bytes.HasSuffix(p.file, []byte("://localhost")) {
			continue
		}
		return p, p.parseMessage(rest)
	}
	return p, false
}

// indexAfter returns the index of the next b after at, or the end of l.
func indexAfter(l []byte, at int, b byte) int {
	if at+1 < len(l) {
		if i := bytes.IndexByte(l[at+1:], b); i >= 0 {
			return at + 1 + i
		}
	}
	return len(l)
}

// parsePrefix parses the text before the file, and returns the rest.
func (p *position) parsePrefix(l []byte) []byte {
	if len(l) < 3 {
		return l
	}
	switch l[0] {
	case '[':
		for _, mark := range []struct {
			text string
			sev  severity
		}{{"[ERROR] ", isError}, {"[WARNING] ", isWarning}, {"[error] ", isError}, {"[warn] ", isWarning}} {
			if bytes.HasPrefix(l, []byte(mark.text)) {
				p.sev, p.hasSeverity = mark.sev, true
				return l[len(mark.text):]
			}
		}
	case 'e', 'w':
		if l[1] == ':' && l[2] == ' ' {
			p.sev, p.hasSeverity = isError, true
			if l[0] == 'w' {
				p.sev = isWarning
			}
			return bytes.TrimPrefix(l[3:], []byte("file://"))
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9': // the number of a build node
		if n := text.DigitsEnd(l, 0); n < len(l) && l[n] == '>' {
			return l[n+1:]
		}
	}
	return l
}

// positionAt returns the length of a position at the start of l, and the rest:
// ":1", ":1:2", ":1:2-3:4", ":[1,2]", ": (1, 2)", "(1)", "(1,2)", "(1,2,3,4)",
// ": line 1, col 2,".
func positionAt(l []byte) (n int, rest []byte) {
	if len(l) < 2 {
		return 0, nil
	}
	if l[0] == '(' {
		n = 1 + numberListEnd(l[1:])
		if n == 1 || n >= len(l) || l[n] != ')' {
			return 0, nil
		}
		n++
		rest = text.Unindent(l[n:])
		if len(rest) == 0 || rest[0] != ':' {
			return 0, nil
		}
		return n, rest
	}
	switch c := l[1]; {
	case c >= '0' && c <= '9':
		n = 1 + text.DigitsEnd(l[1:], 0)
		for n+1 < len(l) && (l[n] == ':' || l[n] == '-') {
			d := text.DigitsEnd(l[n+1:], 0)
			if d == 0 {
				break
			}
			n += 1 + d
		}
	case c == '[':
		if k := numberListEnd(l[2:]); k > 0 && 2+k < len(l) && l[2+k] == ']' {
			n = 3 + k
			return n, l[n:]
		}
	case c == ' ' && len(l) > 3 && l[2] == '(':
		if k := numberListEnd(l[3:]); k > 0 && 3+k < len(l) && l[3+k] == ')' {
			n = 4 + k
			return n, l[n:]
		}
	case bytes.HasPrefix(l, []byte(": line ")):
		const skip = len(": line ")
		d := text.DigitsEnd(l[skip:], 0)
		n = skip + d
		if d > 0 && bytes.HasPrefix(l[n:], []byte(", col ")) {
			n += len(", col ")
			n += text.DigitsEnd(l[n:], 0)
			if n < len(l) && l[n] == ',' {
				return n, l[n+1:]
			}
		}
		return 0, nil
	}
	if n == 0 || n < len(l) && l[n] != ':' && l[n] != ' ' {
		return 0, nil
	}
	return n, l[n:]
}

// numberListEnd returns the length of numbers separated by commas.
func numberListEnd(l []byte) int {
	n := text.DigitsEnd(l, 0)
	for n > 0 && n < len(l) && l[n] == ',' {
		skip := n + 1
		for skip < len(l) && l[skip] == ' ' {
			skip++
		}
		d := text.DigitsEnd(l[skip:], 0)
		if d == 0 {
			break
		}
		n = skip + d
	}
	return n
}

// severities are the words for severities. Longer words come before their
// prefixes.
var severities = []struct {
	word string
	sev  severity
}{
	{"error", isError},
	{"warning", isWarning},
	{"note", isNote},
	{"fatal error", isError},
	{"fatal", isError},
	{"information", isIssue},
	{"info", isIssue},
	{"hint", isIssue},
	{"remark", isNote},
	{"style", isIssue},
	{"refactor", isIssue},
	{"convention", isIssue},
	{"Error", isError},
	{"Warning", isWarning},
	{"internal compiler error", isError},
	{"sorry, unimplemented", isError},
	{"warn", isWarning},
	{"suggestion", isIssue},
	{"performance", isWarning},
	{"portability", isWarning},
}

// parseSeverity parses a severity and returns the rest.
func (p *position) parseSeverity(l []byte) (rest []byte, ok bool) {
	if len(l) == 0 || !severityInitials[l[0]] {
		return l, false
	}
	for _, s := range severities {
		if bytes.HasPrefix(l, []byte(s.word)) {
			rest = l[len(s.word):]
			if len(rest) > 0 && (rest[0] == ':' || rest[0] == ' ' || rest[0] == '[' || rest[0] == ']' || rest[0] == '/') {
				p.sev, p.hasSeverity = s.sev, true
				return rest, true
			}
		}
	}
	return l, false
}

var severityInitials = func() (table [256]bool) {
	for _, s := range severities {
		table[s.word[0]] = true
	}
	return table
}()

// parseMessage parses the text after the place. It reports false if the text has neither
// a severity nor a rule.
func (p *position) parseMessage(rest []byte) bool {
	if !p.hasFileName() || len(rest) == 0 {
		return false
	}
	rest = bytes.TrimPrefix(rest, []byte(":"))
	if len(rest) > 1 && rest[1] == ' ' && rest[0] == ' ' && bytes.Contains(rest, []byte("required ")) { // an instantiation
		p.leadsIn = true
		return true
	}
	rest = text.Unindent(rest)
	if bytes.HasPrefix(rest, []byte("- ")) {
		rest = rest[2:]
		p.pretty = true
	}
	known := p.hasSeverity
	if !known {
		if inner, ok := p.parseSeverity(rest); ok && (inner[0] != ' ' || p.standsAlone(inner)) {
			rest, known = inner, true
		} else if p.hasSeverity = false; len(rest) > 2 && rest[0] == '[' {
			if inner, ok := p.parseSeverity(rest[1:]); ok && inner[0] == ']' {
				rest, known, p.fromLinter = inner[1:], true, true
			} else if inner, ok = p.parseBracketedCode(rest); ok {
				rest, known = inner, true
			}
		}
	}
	switch {
	case !known:
		rest = p.parseLinterCode(rest)
	case len(rest) > 0 && rest[0] == '[': // error[CODE]: message
		if end := bytes.IndexByte(rest, ']'); end > 0 {
			p.rule, rest = rest[1:end], rest[end+1:]
		}
	case len(rest) > 0 && rest[0] == ' ':
		rest = p.parseCode(text.Unindent(rest))
	}
	rest = text.Unindent(bytes.TrimPrefix(rest, []byte(":")))
	if bytes.HasPrefix(rest, []byte("- ")) {
		rest = rest[2:]
		p.fromLinter = true
	}
	if len(p.rule) == 0 && known && len(rest) > 0 && rest[0] == '[' { // [rule] message
		if end := bytes.IndexByte(rest, ']'); end > 0 && isRule(rest[1:end]) && end+2 < len(rest) {
			p.rule, rest = rest[1:end], text.Unindent(rest[end+1:])
		}
	}
	if len(p.rule) == 0 && known {
		rest = p.parseLeadingCode(rest)
	}
	p.msg = rest
	p.parseTrailingRule(rest, known)
	if bytes.IndexByte(p.file, ' ') >= 0 && !p.hasSeverity {
		return false
	}
	if len(p.rule) == 0 && !p.hasSeverity {
		p.isRelated = p.pretty
		return p.pretty
	}
	return len(p.msg) > 0
}

// hasFileName reports whether the file can be a file name.
func (p *position) hasFileName() bool {
	f := p.file
	if len(f) == 0 || f[0] == '-' && len(f) > 1 && f[1] == '-' || f[0] == '"' || f[0] == '\'' || f[0] == '(' || f[0] == '{' {
		return false
	}
	letters := false
	for i, b := range f {
		if b < ' ' ||
			b == '|' ||
			b == '=' ||
			b == '`' ||
			b == '"' ||
			b == ':' && i+1 < len(f) && (f[i+1] == ' ' || f[i+1] == '/' && i+2 < len(f) && f[i+2] == '/') {
			return false
		}
		letters = letters || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
	}
	return letters
}
