package excerpt

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// fold joins lines that report the same about different things.
type fold struct {
	pattern   *text.Pattern
	state     string // the state of all names; "" means that the second group of the pattern is the state
	keepFirst int    // number of matches that stay unchanged
}

// Limits of the names of a fold.
const (
	maxFoldedNames = 20_000 // names in memory
	maxShownNames  = 60     // names written for each state
	maxFoldedLine  = 2000   // bytes of the line that lists them
)

// foldedNames collects the names of one fold.
type foldedNames struct {
	seen        int               // matches
	order       []string          // names in the order of their first match
	states      map[string]string // by name
	details     map[string]string // text after a name, by name
	uncollected int               // matches after maxFoldedNames names
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
		if s.seen <= f.keepFirst {
			return false
		}
		s.add(m, f.state)
		return true
	}
	return false
}

// add records the state of a name: the last one counts.
func (s *foldedNames) add(groups [][]byte, state string) {
	detail := 2 // the group of the details
	if state == "" {
		state, detail = string(bytes.TrimSpace(groups[2])), 3
	}
	old, known := s.states[string(groups[1])]
	switch {
	case known && old == state:
	case known:
		s.states[string(groups[1])] = state
	case len(s.order) >= maxFoldedNames:
		s.uncollected++
	default:
		s.insert(string(groups[1]), state)
	}
	if len(groups) > detail && len(groups[detail]) > 0 && len(s.order) < maxFoldedNames {
		if s.details == nil {
			s.details = map[string]string{}
		}
		s.details[string(groups[1])] = string(groups[detail])
	}
}

func (s *foldedNames) insert(name, state string) {
	if s.states == nil {
		s.states = map[string]string{}
	}
	s.order = append(s.order, name)
	s.states[name] = state
}

// foldedLines returns the lines that replace folded lines, after the lines of an
// earlier pass.
func (g *digestPass) foldedLines() [][]byte {
	lines := g.earlierFolds
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
		if more := s.details[n]; more != "" {
			n += " " + more
		}
		names[state] = append(names[state], n)
	}
	for i, kind := range kinds {
		n := len(names[kind])
		if i == 0 {
			n += s.uncollected
		}
		lines = append(lines, foldedLine(n, kind, names[kind], maxShownNames))
	}
	return lines
}

// foldedLine returns the line that replaces n lines with a state, with as many
// names as fit.
func foldedLine(n int, kind string, names []string, maxNames int) []byte {
	l := strconv.AppendInt([]byte("... ("), int64(n), 10)
	l = append(append(l, ' '), kind...)
	for i, name := range names {
		if i == maxNames || len(l)+len(name) > maxFoldedLine {
			l = fmt.Appendf(l, ", %d more", n-i)
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
