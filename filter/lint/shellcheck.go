package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// shellcheckState is the position in the output of shellcheck: a heading "In FILE
// line N:", the code, a line for each finding, and possibly a suggestion.
type shellcheckState struct {
	active       bool
	place        []byte // the place in the heading
	heading      []byte
	code         []byte
	hasFinding   bool // a finding came
	inSuggestion bool // within a suggestion, up to a blank line
	inLinks      bool // within the links at the end, which are indented
}

// beginShell handles the heading.
func (g *groupingPass) beginShell(l []byte) bool {
	at := bytes.LastIndex(l, []byte(" line "))
	if at < 4 || l[len(l)-1] != ':' || text.DigitsEnd(l[at+6:], 0) != len(l)-at-7 {
		return false
	}
	g.endShell()
	g.flushText()
	s := &g.shell
	*s = shellcheckState{active: true, place: append(s.place[:0], l[3:len(l)-1]...), heading: append(s.heading[:0], l...), code: s.code[:0]}
	return true
}

// addShellcheckLine handles a line below the heading.
func (g *groupingPass) addShellcheckLine(l []byte) bool {
	s := &g.shell
	in := text.Unindent(l)
	switch {
	case len(l) == 0:
		s.inSuggestion = false
		return true
	case bytes.HasPrefix(l, []byte("In ")) && g.beginShell(l):
		return true
	case s.inSuggestion:
		g.dropped++
		return true
	case s.inLinks && len(in) < len(l):
		g.dropped++
		return true
	case s.inLinks: // another program or form of report
		g.endShell()
		return false
	case s.hasFinding && bytes.HasPrefix(l, []byte("Did you mean:")), s.hasFinding && bytes.HasPrefix(l, []byte("For more information:")):
		s.inSuggestion = l[0] == 'D'
		s.inLinks = !s.inSuggestion
		g.dropped++
		return true
	case len(in) > 0 && in[0] == '^' && g.addShellFinding(in, len(l)-len(in)):
		return true
	case !s.hasFinding && len(s.code) == 0:
		s.code = append(s.code, l...)
		return true
	}
	g.endShell()
	return false
}

// addShellFinding parses "^--^ SC2086 (info): message", which is below the column of the code.
func (g *groupingPass) addShellFinding(in []byte, column int) bool {
	s := &g.shell
	rest := bytes.TrimLeft(in, "^-")
	code, rest, ok := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	if !ok || !isCode(code) {
		return false
	}
	f := finding{sev: isIssue, rule: code, msg: rest}
	if bytes.HasPrefix(rest, []byte("(error)")) {
		f.sev = isError
	} else if bytes.HasPrefix(rest, []byte("(warning)")) {
		f.sev = isWarning
	}
	at := bytes.LastIndex(s.place, []byte(" line "))
	f.file, f.pos, f.column = s.place[:at], s.place[at:], column
	first := append(append([]byte{}, s.heading...), '\n')
	f.firstLines = append(append(first, in...), '\n')
	s.hasFinding = true
	g.body.flush()
	g.store.add(&f)
	return true
}

// endShell writes a heading without findings.
func (g *groupingPass) endShell() {
	s := &g.shell
	if s.active && !s.hasFinding {
		g.addText(s.heading)
		if len(s.code) > 0 {
			g.addText(s.code)
		}
	}
	s.active = false
}
