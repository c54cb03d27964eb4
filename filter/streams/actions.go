package streams

import (
	"bytes"
	"strings"
)

// group is a collapsed group of a step of GitHub Actions.
type group struct {
	title  string
	script []string // the commands of the step
	ended  bool     // the rest are settings of the step
}

// maxScript limits the commands of a step in the header of its stream, in bytes.
const maxScript = 160

// groupLine handles a line of a group that begins a step: its commands, then its
// settings.
func (s *stream) groupLine(l []byte) {
	g := s.group
	switch {
	case bytes.HasPrefix(l, []byte("##[endgroup]")):
		s.group = nil
		if len(g.script) > 0 {
			s.command, s.shown = g.command(), true
		} else if !strings.HasSuffix(s.name, g.title) {
			s.lines.WriteString("Run " + g.title)
		}
	case bytes.HasPrefix(l, []byte("shell: ")), bytes.Equal(l, []byte("with:")), bytes.Equal(l, []byte("env:")):
		g.ended = true
	case !g.ended:
		g.script = append(g.script, string(l))
	}
}

// command returns the commands of the step as one script.
func (g *group) command() string {
	if all := strings.Join(g.script, "; "); len(all) <= maxScript {
		return all
	}
	return g.script[len(g.script)-1]
}
