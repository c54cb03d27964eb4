package streams

import (
	"bytes"
	"strings"
)

// group is a collapsed group of a step of GitHub Actions.
type group struct {
	title   string
	lines   [][]byte // the commands of the step, then its settings
	size    int      // bytes of lines
	scripts int      // lines with a command
	ended   bool     // the rest are settings of the step
}

// maxGroup limits the lines of a group, in bytes. A longer one does not begin a step.
const maxGroup = 32 << 10

// maxScript limits the commands of a step in the header of its stream, in bytes.
const maxScript = 160

// groupLine handles a line of a group that begins a step: its commands, then its
// settings.
func (p *pass) groupLine(s *stream, l []byte) {
	g := s.group
	if bytes.HasPrefix(l, []byte("##[endgroup]")) {
		s.group = nil
		if g.scripts > 0 {
			s.command, s.shown = g.command(), true
		} else if !strings.HasSuffix(s.name, g.title) {
			s.lines.WriteString("Run " + g.title)
		}
		return
	}
	g.ended = g.ended || bytes.HasPrefix(l, []byte("shell: ")) || bytes.Equal(l, []byte("with:")) || bytes.Equal(l, []byte("env:"))
	if !g.ended {
		g.scripts++
	}
	g.lines = append(g.lines, bytes.Clone(l))
	if g.size += len(l) + 1; g.size > maxGroup {
		p.showGroup(s)
	}
}

// showGroup adds the lines of an open group to its stream, since the group does not begin
// a step. The end of the group may be missing, as in the last lines of a log.
func (p *pass) showGroup(s *stream) {
	g := s.group
	if g == nil {
		return
	}
	s.group = nil
	s.lines.WriteString("Run " + g.title)
	for _, l := range g.lines {
		p.line(s, l)
	}
}

// command returns the commands of the step as one script.
func (g *group) command() string {
	script := g.lines[:g.scripts]
	if all := bytes.Join(script, []byte("; ")); len(all) <= maxScript {
		return string(all)
	}
	return string(script[len(script)-1])
}
