package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// standsAlone reports whether a severity with a blank after it is not the first word
// of a message.
func (p *position) standsAlone(rest []byte) bool {
	rest = text.Unindent(rest)
	if bytes.HasPrefix(rest, []byte("- ")) || bytes.HasPrefix(rest, []byte(": ")) {
		return true
	}
	var q position
	q.parseCode(rest)
	return len(q.rule) > 0
}

// parseCode parses a code between severity and message.
func (p *position) parseCode(l []byte) []byte {
	end := bytes.IndexAny(l, ": ")
	if end <= 0 {
		return l
	}
	token := l[:end]
	if isCode(token) || bytes.IndexByte(token, '/') > 0 && isRule(token) && l[end] == ' ' {
		p.rule = token
		return l[end:]
	}
	if isRule(token) && bytes.HasPrefix(l[end:], []byte(" : ")) { // as Visual Studio shows it
		p.rule = token
		return l[end+1:]
	}
	return l
}

// parseBracketedCode parses a code in brackets: "[C0116(missing-docstring), Cart.add] message".
func (p *position) parseBracketedCode(l []byte) (rest []byte, ok bool) {
	open, end := bytes.IndexByte(l, '('), bytes.Index(l, []byte("] "))
	if open < 2 || end < open || !isCode(l[1:open]) {
		return l, false
	}
	p.rule = l[1:open]
	p.sev, p.hasSeverity, p.fromLinter = severityOfCode(p.rule), true, true
	return l[end+2:], true
}

// severityOfCode returns the severity that the letter of a code of pylint names.
func severityOfCode(code []byte) severity {
	switch code[0] {
	case 'E', 'F':
		return isError
	case 'W':
		return isWarning
	}
	return isIssue
}

// parseLeadingCode parses a code at the start of a message.
func (p *position) parseLeadingCode(l []byte) []byte {
	if end := bytes.IndexByte(l, ':'); end > 0 && end < 12 && isCode(l[:end]) && end+1 < len(l) && l[end+1] == ' ' {
		p.rule = l[:end]
		return l[end+2:]
	}
	return l
}

// parseLinterCode parses lines of linters that begin with a code: "E501 message", "C0114:
// message", "C: [Correctable] Cop/Name: message", "DL3008 warning: message",
// "MD013/line-length message", "lint/style/useConst FIXABLE".
func (p *position) parseLinterCode(l []byte) []byte {
	end := bytes.IndexAny(l, ": ")
	if end <= 0 {
		return l
	}
	token := l[:end]
	switch {
	case end == 1 && l[1] == ':' && bytes.IndexByte([]byte("CWEFRI"), token[0]) >= 0:
		p.sev, p.hasSeverity, p.fromLinter = severityOfCode(token), true, true
		rest := text.Unindent(l[2:])
		for _, mark := range []string{"[Correctable] ", "[Corrected] ", "[Todo] "} {
			rest = bytes.TrimPrefix(rest, []byte(mark))
		}
		if at := bytes.Index(rest, []byte(": ")); at > 0 && isRule(rest[:at]) {
			p.rule, rest = rest[:at], rest[at+2:]
		}
		return rest
	case isCode(token):
		p.fromLinter = true
		p.rule = token
		p.sev = isIssue
		rest := text.Unindent(bytes.TrimPrefix(l[end:], []byte(":")))
		if l[end] == ':' && len(token) > 4 { // pylint's
			p.sev = severityOfCode(token)
		}
		if inner, ok := p.parseSeverity(rest); ok && inner[0] == ':' {
			rest = text.Unindent(inner[1:])
		}
		return rest
	case bytes.IndexByte(token, '/') > 0 && isRule(token) && l[end] == ' ' && len(token) < 60:
		p.fromLinter = true
		p.rule = token
		p.sev = isIssue
		return text.Unindent(l[end:])
	}
	p.sev = isIssue
	return l
}

// parseTrailingRule parses a rule at the end: "(rule)", "[rule]" or "[Error/rule]",
// possibly with a project after it.
func (p *position) parseTrailingRule(l []byte, known bool) {
	msg, rule := splitTrailingRule(l)
	if len(rule) > 4 && rule[len(rule)-4] == 'p' && bytes.HasSuffix(rule, []byte("proj")) || bytes.Contains(rule, []byte("proj::")) {
		p.msg = msg
		return
	}
	if rule == nil || len(p.rule) > 0 {
		return
	}
	paren := l[len(l)-1] == ')'
	if at := bytes.IndexByte(rule, '/'); at > 0 && !paren { // eslint's
		var q position
		if _, ok := q.parseSeverity(rule[:at+1]); ok {
			p.sev, p.hasSeverity, p.fromLinter = q.sev, true, true
			p.rule, p.msg = rule[at+1:], msg
			return
		}
	}
	if bytes.Equal(rule, []byte("Error")) && !paren {
		p.sev, p.hasSeverity, p.fromLinter = isError, true, true
		p.msg = msg
		return
	}
	if known && paren && !bytes.ContainsAny(rule, "-_/:") && !bytes.HasPrefix(rule, []byte("report")) && !p.fromLinter {
		return // part of the message
	}
	if !known && !paren && bytes.IndexByte(rule, '/') >= 0 && bytes.IndexByte(rule, '.') >= 0 {
		return
	}
	p.rule, p.msg = rule, msg
	if !known {
		p.fromLinter = true
	}
}

// splitTrailingRule splits a text from the rule in brackets at its end. rule is nil if
// there is none.
func splitTrailingRule(l []byte) (text, rule []byte) {
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
	if len(l) < 2 || len(l) > 80 || l[0] >= '0' && l[0] <= '9' {
		return false
	}
	letters := false
	for _, b := range l {
		switch {
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			letters = true
		case b >= '0' && b <= '9' || b == '-' || b == '_' || b == '/' || b == '.' || b == ':' || b == '@' ||
			b == ',' || b == '=' || b == '+':
		default:
			return false
		}
	}
	return letters
}

// isCode reports whether a text is a code: capitals, then digits.
func isCode(l []byte) bool {
	n := 0
	for n < len(l) && l[n] >= 'A' && l[n] <= 'Z' {
		n++
	}
	if n == 0 || n > 6 || len(l)-n < 2 || len(l)-n > 6 {
		return false
	}
	return text.DigitsEnd(l[n:], 0) == len(l)-n
}

// tableRow parses a row of a table of diagnostics below the name of their file:
// " 1:2 error message rule", "1:2 Error: message rule", " 1:2 CODE message".
func tableRow(l []byte) (p position, ok bool) {
	in := text.Unindent(l)
	n := text.DigitsEnd(in, 0)
	if n == 0 || n >= len(in) || in[n] != ':' {
		return p, false
	}
	d := text.DigitsEnd(in[n+1:], 0)
	n += 1 + d
	if d == 0 || n >= len(in) || in[n] != ' ' {
		return p, false
	}
	p.pos = in[:n]
	rest := text.Unindent(in[n:])
	inner, ok := p.parseSeverity(rest)
	if !ok {
		for _, glyph := range []struct {
			text string
			sev  severity
		}{{"✖", isError}, {"×", isError}, {"⚠", isWarning}, {"ℹ", isIssue}} {
			if bytes.HasPrefix(rest, []byte(glyph.text)) {
				p.sev, p.hasSeverity, ok = glyph.sev, true, true
				inner = rest[len(glyph.text):]
			}
		}
	}
	if code, _, found := bytes.Cut(rest, []byte{' '}); !ok && found && isCode(code) && len(in) < len(l) { // ruff's, in groups
		p.rule, p.sev = code, isIssue
		p.msg = bytes.TrimSpace(rest[len(code):])
		return p, len(p.msg) > 0
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
