package digest

import (
	"bytes"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// fold tells which lines say alike of many things what they are.
type fold struct {
	pattern *text.Pattern
	as      string // what the things are; empty if the pattern's second group says it, and the third one more of each
	first   int    // lines that stay
}

// The most of folded names that are kept: in all, and written of one kind.
const (
	maxNames    = 20_000
	shownNames  = 60
	shownLength = 2000 // bytes
)

// folding collects the names of one fold.
type folding struct {
	seen   int
	order  []string
	states map[string]string
	more   map[string]string // of a name, what stands behind it
	beyond int               // names that were too many
}

// fold takes a line into the fold that it is of. It reports false for a line
// that stays.
func (g *digesting) fold(l []byte) bool {
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

func (s *folding) add(groups [][]byte, as string) {
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

func (s *folding) insert(name, state string) {
	if s.states == nil {
		s.states = map[string]string{}
	}
	s.order = append(s.order, name)
	s.states[name] = state
}

// unfold gives the lines that stand for what was folded, after those of an
// earlier pass.
func (g *digesting) unfold() [][]byte {
	lines := g.again
	for i := range g.folded {
		lines = append(lines, g.folded[i].lines()...)
	}
	return lines
}

// lines are one for each state.
func (s *folding) lines() (lines [][]byte) {
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
		lines = append(lines, folded(n, kind, names[kind], shownNames))
	}
	return lines
}

// folded is the line that stands for n lines of a kind, with as many of the names
// as fit.
func folded(n int, kind string, names []string, most int) []byte {
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
