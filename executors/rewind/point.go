package rewind

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Point is the changes of one turn.
type Point struct {
	Seq       int               `json:"seq"` // from 1; the turns without changes have no point
	Turn      int               `json:"turn"`
	MessageID string            `json:"messageId"`
	Files     map[string]Change `json:"files,omitempty"` // by absolute path
	// Left are reasons why changes of commands may be missing.
	Left []string `json:"left,omitempty"`
	// Open is set while the turn runs. The survey before its commands is then kept
	// too.
	Open string `json:"open,omitempty"`
	// Dropped says that there were later changes of more turns than are kept.
	Dropped bool `json:"dropped,omitempty"`
}

// Change is one entry before and after a turn.
type Change struct {
	Before State `json:"before"`
	After  State `json:"after"`
	// Unsure says that After was found later, when the user may have changed the file.
	Unsure bool `json:"unsure,omitempty"`
}

func (s *Session) pointFile(seq int) string {
	return filepath.Join(s.dir, fmt.Sprintf("%06d.json", seq))
}
func (s *Session) openFile(seq int) string {
	return filepath.Join(s.dir, fmt.Sprintf("%06d.index", seq))
}

// points returns the points of the session, in order.
func (s *Session) points() ([]*Point, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "[0-9]*.json"))
	if err != nil {
		return nil, err
	}
	var all []*Point
	for _, name := range names {
		p := &Point{}
		if _, err := readJSON(name, p); err != nil {
			s.Log.Warn("a point of a rewind cannot be read", "file", name, "err", err)
			continue
		}
		if p.Files == nil {
			p.Files = map[string]Change{}
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Point) int { return a.Seq - b.Seq })
	return all, nil
}

// started returns the point of the running turn; the caller holds s.mu.
func (s *Session) started() (*Point, error) {
	if s.point != nil {
		return s.point, nil
	}
	all, err := s.points()
	if err != nil {
		return nil, err
	}
	next := 1
	if len(all) > 0 {
		next = all[len(all)-1].Seq + 1
	}
	s.point = &Point{Seq: next, Turn: s.turn, MessageID: s.message, Files: map[string]Change{}, Open: s.message}
	s.forgetRewinds()
	return s.point, nil
}

// save stores a point.
func (s *Session) save(p *Point) {
	if err := writeJSON(s.pointFile(p.Seq), p, false); err != nil {
		s.Log.Warn("the changes of a turn cannot be kept", "session", s.Session, "err", err)
	}
}

func (s *Session) drop(p *Point) { os.Remove(s.pointFile(p.Seq)) }

// prune drops the files of the oldest points beyond the number that is kept.
func (s *Session) prune() {
	all, err := s.points()
	if err != nil {
		return
	}
	kept := 0
	for _, p := range slices.Backward(all) {
		if p.Dropped {
			continue
		}
		if kept++; kept > s.Config.MaxTurns {
			s.save(&Point{Seq: p.Seq, Turn: p.Turn, MessageID: p.MessageID, Dropped: true})
		}
	}
}

// paths returns the changed paths, sorted.
func (p *Point) paths() []string { return slices.Sorted(maps.Keys(p.Files)) }
