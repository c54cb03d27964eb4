package filter

import (
	"bytes"
)

// position is a place in a file as a tool writes it, in one line with what it
// says of it.
type position struct {
	sev      severity
	known    bool   // the line says its severity
	linter   bool   // of a kind that only linters write
	lead     bool   // not a diagnostic, but on the way to one
	file     []byte // the file; pos stands behind it
	pos      []byte
	rule     []byte
	msg      []byte
	pretty   bool // "file:1:2 - error": its code stands apart from it
	relation bool // "file:1:2 - text": a place that belongs to the last
}

// maxFileName bounds the text before a position, in bytes.
const maxFileName = 400

// locate reads a line that begins with a place in a file.
func locate(l []byte) (p position, ok bool) {
	l = bytes.TrimRight(unindent(l), " ")
	l = p.prefix(l)
	for i := 0; i < min(len(l), maxFileName); i++ {
		b := l[i]
		if b != ':' && b != '(' || i == 0 {
			continue
		}
		n, rest := positionAt(l[i:])
		if n == 0 {
			continue
		}
		p.file, p.pos = l[:i], l[i:i+n]
		if b == ':' && i == 1 || bytes.HasSuffix(p.file, []byte("://localhost")) {
			continue
		}
		return p, p.says(rest)
	}
	return p, false
}

// prefix takes off what stands before the file.
func (p *position) prefix(l []byte) []byte {
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
				p.sev, p.known = mark.sev, true
				return l[len(mark.text):]
			}
		}
	case 'e', 'w':
		if l[1] == ':' && l[2] == ' ' {
			p.sev, p.known = isError, true
			if l[0] == 'w' {
				p.sev = isWarning
			}
			return bytes.TrimPrefix(l[3:], []byte("file://"))
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9': // the node of a build
		if n := digitRun(l); n < len(l) && l[n] == '>' {
			return l[n+1:]
		}
	}
	return l
}

func digitRun(l []byte) int {
	n := 0
	for n < len(l) && l[n] >= '0' && l[n] <= '9' {
		n++
	}
	return n
}

// positionAt gives the length of the position that begins here, and what is
// behind it: ":1", ":1:2", ":1:2-3:4", ":[1,2]", ": (1, 2)", "(1)", "(1,2)",
// "(1,2,3,4)", ": line 1, col 2,".
func positionAt(l []byte) (n int, rest []byte) {
	if len(l) < 2 {
		return 0, nil
	}
	if l[0] == '(' {
		n = 1 + list(l[1:])
		if n == 1 || n >= len(l) || l[n] != ')' {
			return 0, nil
		}
		n++
		rest = unindent(l[n:])
		if len(rest) == 0 || rest[0] != ':' {
			return 0, nil
		}
		return n, rest
	}
	switch c := l[1]; {
	case c >= '0' && c <= '9':
		n = 1 + digitRun(l[1:])
		for n+1 < len(l) && (l[n] == ':' || l[n] == '-') {
			d := digitRun(l[n+1:])
			if d == 0 {
				break
			}
			n += 1 + d
		}
	case c == '[':
		if k := list(l[2:]); k > 0 && 2+k < len(l) && l[2+k] == ']' {
			n = 3 + k
			return n, l[n:]
		}
	case c == ' ' && len(l) > 3 && l[2] == '(':
		if k := list(l[3:]); k > 0 && 3+k < len(l) && l[3+k] == ')' {
			n = 4 + k
			return n, l[n:]
		}
	case bytes.HasPrefix(l, []byte(": line ")):
		const skip = len(": line ")
		d := digitRun(l[skip:])
		n = skip + d
		if d > 0 && bytes.HasPrefix(l[n:], []byte(", col ")) {
			n += len(", col ")
			n += digitRun(l[n:])
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

// list gives the length of numbers with commas between.
func list(l []byte) int {
	n := digitRun(l)
	for n > 0 && n < len(l) && l[n] == ',' {
		skip := n + 1
		for skip < len(l) && l[skip] == ' ' {
			skip++
		}
		d := digitRun(l[skip:])
		if d == 0 {
			break
		}
		n = skip + d
	}
	return n
}

// severities are the words for them. Longer ones come before those they begin
// with.
var severities = []struct {
	word string
	sev  severity
}{
	{"error", isError}, {"warning", isWarning}, {"note", isNote}, {"fatal error", isError}, {"fatal", isError}, {"information", isIssue}, {"info", isIssue},
	{"hint", isIssue}, {"remark", isNote}, {"style", isIssue}, {"refactor", isIssue}, {"convention", isIssue}, {"Error", isError}, {"Warning", isWarning},
	{"internal compiler error", isError}, {"sorry, unimplemented", isError}, {"warn", isWarning}, {"suggestion", isIssue}, {"performance", isWarning}, {"portability", isWarning},
}

// word reads a severity, and gives what is behind it.
func (p *position) word(l []byte) (rest []byte, ok bool) {
	if len(l) == 0 || !severityBegins[l[0]] {
		return l, false
	}
	for _, s := range severities {
		if bytes.HasPrefix(l, []byte(s.word)) {
			rest = l[len(s.word):]
			if len(rest) > 0 && (rest[0] == ':' || rest[0] == ' ' || rest[0] == '[' || rest[0] == ']' || rest[0] == '/') {
				p.sev, p.known = s.sev, true
				return rest, true
			}
		}
	}
	return l, false
}

var severityBegins = func() (table [256]bool) {
	for _, s := range severities {
		table[s.word[0]] = true
	}
	return table
}()

// says reads what stands behind the place. It is no diagnostic if neither
// severity nor rule is there.
func (p *position) says(rest []byte) bool {
	if !p.named() || len(rest) == 0 {
		return false
	}
	rest = bytes.TrimPrefix(rest, []byte(":"))
	if bytes.HasPrefix(rest, []byte("  ")) && bytes.Contains(rest, []byte("required ")) { // from an instantiation
		p.lead = true
		return true
	}
	rest = unindent(rest)
	if bytes.HasPrefix(rest, []byte("- ")) {
		rest = rest[2:]
		p.pretty = true
	}
	known := p.known
	if !known {
		if inner, ok := p.word(rest); ok && (inner[0] != ' ' || p.spaced(inner)) {
			rest, known = inner, true
		} else if p.known = false; len(rest) > 2 && rest[0] == '[' {
			if inner, ok := p.word(rest[1:]); ok && inner[0] == ']' {
				rest, known, p.linter = inner[1:], true, true
			}
		}
	}
	switch {
	case !known:
		rest = p.coded(rest)
	case len(rest) > 0 && rest[0] == '[': // error[CODE]: message
		if end := bytes.IndexByte(rest, ']'); end > 0 {
			p.rule, rest = rest[1:end], rest[end+1:]
		}
	case len(rest) > 0 && rest[0] == ' ':
		rest = p.code(unindent(rest))
	}
	rest = unindent(bytes.TrimPrefix(rest, []byte(":")))
	if bytes.HasPrefix(rest, []byte("- ")) {
		rest = rest[2:]
		p.linter = true
	}
	if len(p.rule) == 0 && known && len(rest) > 0 && rest[0] == '[' { // [rule] message
		if end := bytes.IndexByte(rest, ']'); end > 0 && isRule(rest[1:end]) && end+2 < len(rest) {
			p.rule, rest = rest[1:end], unindent(rest[end+1:])
		}
	}
	if len(p.rule) == 0 && known {
		rest = p.leading(rest)
	}
	p.msg = rest
	p.ending(rest, known)
	if bytes.Contains(p.rule, []byte("━━")) {
		return false
	}
	if bytes.IndexByte(p.file, ' ') >= 0 && !p.known {
		return false
	}
	if len(p.rule) == 0 && !p.known {
		p.relation = p.pretty
		return p.pretty
	}
	return len(p.msg) > 0
}

// named reports whether the file can be the name of one.
func (p *position) named() bool {
	f := p.file
	if len(f) == 0 || f[0] == '-' && len(f) > 1 && f[1] == '-' || f[0] == '"' || f[0] == '\'' || f[0] == '(' || f[0] == '{' || bytes.Contains(f, []byte("://")) || bytes.Contains(f, []byte(": ")) {
		return false
	}
	letters := false
	for _, b := range f {
		if b < ' ' || b == '|' || b == '=' || b == '`' || b == '"' {
			return false
		}
		letters = letters || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
	}
	return letters
}

// spaced reports whether a severity with a blank behind it is one, and not the
// first word of a message.
func (p *position) spaced(rest []byte) bool {
	rest = unindent(rest)
	if bytes.HasPrefix(rest, []byte("- ")) || bytes.HasPrefix(rest, []byte(": ")) {
		return true
	}
	var q position
	q.code(rest)
	return len(q.rule) > 0
}

// code reads a code between severity and message.
func (p *position) code(l []byte) []byte {
	end := bytes.IndexAny(l, ": ")
	if end <= 0 {
		return l
	}
	token := l[:end]
	if isCode(token) || bytes.IndexByte(token, '/') > 0 && isRule(token) && l[end] == ' ' {
		p.rule = token
		return l[end:]
	}
	return l
}

// leading reads a code at the begin of a message.
func (p *position) leading(l []byte) []byte {
	if end := bytes.IndexByte(l, ':'); end > 0 && end < 12 && isCode(l[:end]) && end+1 < len(l) && l[end+1] == ' ' {
		p.rule = l[:end]
		return l[end+2:]
	}
	return l
}

// coded reads what linters write that begin with a code: "E501 message",
// "C0114: message", "C: [Correctable] Cop/Name: message", "DL3008 warning:
// message", "MD013/line-length message", "lint/style/useConst  FIXABLE".
func (p *position) coded(l []byte) []byte {
	end := bytes.IndexAny(l, ": ")
	if end <= 0 {
		return l
	}
	token := l[:end]
	switch {
	case end == 1 && l[1] == ':' && bytes.IndexByte([]byte("CWEFRI"), token[0]) >= 0:
		p.linter = true
		switch token[0] {
		case 'E', 'F':
			p.sev, p.known = isError, true
		case 'W':
			p.sev, p.known = isWarning, true
		default:
			p.sev, p.known = isIssue, true
		}
		rest := unindent(l[2:])
		for _, mark := range []string{"[Correctable] ", "[Corrected] ", "[Todo] "} {
			rest = bytes.TrimPrefix(rest, []byte(mark))
		}
		if at := bytes.Index(rest, []byte(": ")); at > 0 && isRule(rest[:at]) {
			p.rule, rest = rest[:at], rest[at+2:]
		}
		return rest
	case isCode(token):
		p.linter = true
		p.rule = token
		p.sev = isIssue
		rest := unindent(bytes.TrimPrefix(l[end:], []byte(":")))
		if l[end] == ':' && len(token) > 4 { // pylint: the letter tells
			switch token[0] {
			case 'E', 'F':
				p.sev = isError
			case 'W':
				p.sev = isWarning
			}
		}
		if inner, ok := p.word(rest); ok && inner[0] == ':' {
			rest = unindent(inner[1:])
		}
		return rest
	case bytes.IndexByte(token, '/') > 0 && isRule(token) && l[end] == ' ' && len(token) < 60:
		p.linter = true
		p.rule = token
		p.sev = isIssue
		return unindent(l[end:])
	}
	p.sev = isIssue
	return l
}

// ending reads a rule at the end: "(rule)", "[rule]", "[Error/rule]", with a
// project behind it or without.
func (p *position) ending(l []byte, known bool) {
	text, rule := trailing(l)
	if len(rule) > 4 && rule[len(rule)-4] == 'p' && bytes.HasSuffix(rule, []byte("proj")) || bytes.Contains(rule, []byte("proj::")) {
		p.msg = text
		return
	}
	if rule == nil || len(p.rule) > 0 {
		return
	}
	paren := l[len(l)-1] == ')'
	if at := bytes.IndexByte(rule, '/'); at > 0 && !paren { // eslint's
		var q position
		if _, ok := q.word(rule[:at+1]); ok {
			p.sev, p.known, p.linter = q.sev, true, true
			p.rule, p.msg = rule[at+1:], text
			return
		}
	}
	if bytes.Equal(rule, []byte("Error")) && !paren {
		p.sev, p.known, p.linter = isError, true, true
		p.msg = text
		return
	}
	if known && paren && bytes.IndexAny(rule, "-_/:") < 0 && !bytes.HasPrefix(rule, []byte("report")) && !p.linter {
		return // part of the message
	}
	if !known && !paren && bytes.IndexByte(rule, '/') >= 0 && bytes.IndexByte(rule, '.') >= 0 {
		return
	}
	p.rule, p.msg = rule, text
	if !known {
		p.linter = true
	}
}

// trailing divides a text from the rule in brackets or parentheses at its end;
// the rule is nil if there is none.
func trailing(l []byte) (text, rule []byte) {
	l = bytes.TrimRight(l, " ")
	if len(l) < 3 {
		return l, nil
	}
	open := byte('(')
	switch l[len(l)-1] {
	case ')':
	case ']':
		open = '['
	default:
		return l, nil
	}
	at := bytes.LastIndexByte(l, open)
	if at < 0 || at > 0 && l[at-1] != ' ' {
		return l, nil
	}
	rule = l[at+1 : len(l)-1]
	if isRule(rule) || open == '[' && bytes.Contains(rule, []byte("proj")) {
		return bytes.TrimRight(l[:at], " "), rule
	}
	return l, nil
}

// isRule reports whether a text can be the name of a rule.
func isRule(l []byte) bool {
	if len(l) < 2 || len(l) > 80 {
		return false
	}
	letters := false
	for _, b := range l {
		switch {
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			letters = true
		case b >= '0' && b <= '9' || b == '-' || b == '_' || b == '/' || b == '.' || b == ':' || b == '@' || b == ',' || b == '=' || b == '+':
		default:
			return false
		}
	}
	return letters
}

// isCode reports whether a text is a code: letters in upper case, then digits.
func isCode(l []byte) bool {
	n := 0
	for n < len(l) && l[n] >= 'A' && l[n] <= 'Z' {
		n++
	}
	if n == 0 || n > 6 || len(l)-n < 2 || len(l)-n > 6 {
		return false
	}
	return digitRun(l[n:]) == len(l)-n
}

// tableRow reads a line of a table of diagnostics under the name of their file:
// "  1:2  error  message  rule", "1:2  Error: message  rule".
func tableRow(l []byte) (p position, ok bool) {
	in := unindent(l)
	n := digitRun(in)
	if n == 0 || n >= len(in) || in[n] != ':' {
		return p, false
	}
	d := digitRun(in[n+1:])
	n += 1 + d
	if d == 0 || n >= len(in) || in[n] != ' ' {
		return p, false
	}
	p.pos = in[:n]
	rest := unindent(in[n:])
	inner, ok := p.word(rest)
	if !ok {
		for _, glyph := range []struct {
			text string
			sev  severity
		}{{"✖", isError}, {"×", isError}, {"⚠", isWarning}, {"ℹ", isIssue}} {
			if bytes.HasPrefix(rest, []byte(glyph.text)) {
				p.sev, p.known, ok = glyph.sev, true, true
				inner = rest[len(glyph.text):]
			}
		}
	}
	if ok && len(inner) > 1 && inner[0] == ':' {
		inner = inner[1:]
	} else if len(in) == len(l) {
		return p, false
	}
	if !ok || len(inner) == 0 || inner[0] != ' ' {
		return p, false
	}
	p.msg = bytes.TrimSpace(inner)
	if at := bytes.LastIndex(p.msg, []byte("  ")); at > 0 {
		rule := bytes.Trim(p.msg[at+2:], "()")
		if isRule(rule) {
			p.rule, p.msg = rule, bytes.TrimRight(p.msg[:at], " ")
		}
	}
	return p, len(p.msg) > 0
}
