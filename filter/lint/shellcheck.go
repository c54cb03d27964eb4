package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// shellState is the position in the output of shellcheck: a heading "In FILE
// line N:", the code, a line for each finding, and possibly a suggestion.
type shellState struct {
	on      bool
	place   []byte // the place in the heading
	head    []byte
	code    []byte
	found   bool // a finding came
	suggest bool // within a suggestion
}

// beginsShell handles the heading.
func (g *grouping) beginsShell(l []byte) bool {
	at := bytes.LastIndex(l, []byte(" line "))
	if at < 4 || l[len(l)-1] != ':' || digitRun(l[at+6:]) != len(l)-at-7 {
		return false
	}
	g.endShell()
	g.flushText()
	s := &g.shell
	*s = shellState{on: true, place: append(s.place[:0], l[3:len(l)-1]...), head: append(s.head[:0], l...), code: s.code[:0]}
	return true
}

// shellcheck handles a line below the heading.
func (g *grouping) shellcheck(l []byte) bool {
	s := &g.shell
	in := text.Unindent(l)
	switch {
	case len(l) == 0:
		s.suggest = false
		return true
	case bytes.HasPrefix(l, []byte("In ")) && g.beginsShell(l):
		return true
	case s.suggest:
		g.dropped++
		return true
	case s.found && bytes.HasPrefix(l, []byte("Did you mean:")), s.found && bytes.HasPrefix(l, []byte("For more information:")):
		s.suggest = true
		g.dropped++
		return true
	case !s.found && len(s.code) == 0:
		s.code = append(s.code, l...)
		return true
	case len(in) > 0 && in[0] == '^' && g.shellFinding(in):
		return true
	}
	g.endShell()
	return false
}

// shellFinding parses "^--^ SC2086 (info): message".
func (g *grouping) shellFinding(in []byte) bool {
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
	f.file, f.pos = s.place[:at], s.place[at:]
	first := append(append([]byte{}, s.head...), '\n')
	f.first = append(append(first, in...), '\n')
	s.found = true
	g.body.settle()
	g.store.add(&f)
	return true
}

// endShell writes a heading without findings.
func (g *grouping) endShell() {
	s := &g.shell
	if s.on && !s.found {
		g.plain(s.head)
		if len(s.code) > 0 {
			g.plain(s.code)
		}
	}
	s.on = false
}
