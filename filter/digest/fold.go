package digest

import (
	"bytes"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// fold joins lines that report the same about different things.
type fold struct {
	pattern *text.Pattern
	as      string // the state of the things; empty if the second group of the pattern is the state, and the third more about each
	first   int    // number of lines to keep
}

// Limits of the names of a fold: held in all, and written for each state.
const (
	maxNames    = 20_000
	shownNames  = 60
	shownLength = 2000 // bytes
)

// foldedNames collects the names of one fold.
type foldedNames struct {
	seen   int
	order  []string
	states map[string]string
	more   map[string]string // text after a name
	beyond int               // names beyond the limit
}

// fold adds a line to its fold. It reports false for a line that stays.
func (g *digestPass) fold(l []byte) bool {
	for i, f := range g.folds {
		m := f.pattern.Submatch(l)
		if m == nil || len(m[1]) == 0 {
			continue
		}
		s := &g.folded[i]
		s.seen++
		if s.seen <= f.first {
			return false
		}
		s.add(m, f.as)
		return true
	}
	return false
}

func (s *foldedNames) add(groups [][]byte, as string) {
	state := as
	if as == "" {
		state = string(bytes.TrimSpace(groups[2]))
	}
	old, known := s.states[string(groups[1])]
	switch {
	case known && old == state:
	case known:
		s.states[string(groups[1])] = state
	case len(s.order) >= maxNames:
		s.beyond++
	default:
		s.insert(string(groups[1]), state)
	}
	if len(groups) > 3 && len(groups[3]) > 0 && len(s.order) < maxNames {
		if s.more == nil {
			s.more = map[string]string{}
		}
		s.more[string(groups[1])] = string(groups[3])
	}
}

func (s *foldedNames) insert(name, state string) {
	if s.states == nil {
		s.states = map[string]string{}
	}
	s.order = append(s.order, name)
	s.states[name] = state
}

// unfold returns the lines that replace folded ones, after those of an earlier
// pass.
func (g *digestPass) unfold() [][]byte {
	lines := g.again
	for i := range g.folded {
		lines = append(lines, g.folded[i].lines()...)
	}
	return lines
}

// lines returns a line for each state.
func (s *foldedNames) lines() (lines [][]byte) {
	var kinds []string
	names := map[string][]string{}
	for _, n := range s.order {
		state := s.states[n]
		if names[state] == nil {
			kinds = append(kinds, state)
		}
		if more := s.more[n]; more != "" {
			n += " " + more
		}
		names[state] = append(names[state], n)
	}
	for i, kind := range kinds {
		n := len(names[kind])
		if i == 0 {
			n += s.beyond
		}
		lines = append(lines, foldedLine(n, kind, names[kind], shownNames))
	}
	return lines
}

// foldedLine returns the line that replaces n lines with a state, with as many
// names as fit.
func foldedLine(n int, kind string, names []string, most int) []byte {
	l := strconv.AppendInt([]byte("... ("), int64(n), 10)
	l = append(append(l, ' '), kind...)
	for i, name := range names {
		if i == most || len(l)+len(name) > shownLength {
			l = append(l, ", and more"...)
			break
		}
		if i == 0 {
			l = append(l, ':')
		} else {
			l = append(l, ',')
		}
		l = append(append(l, ' '), name...)
	}
	return append(l, ") ..."...)
}
