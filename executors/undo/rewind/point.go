package rewind

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// point holds the changes of one turn.
type point struct {
	Seq       int               `json:"seq"` // from 1; the turns without changes have no point
	Turn      int               `json:"turn"`
	MessageID string            `json:"messageId"`
	Files     map[string]change `json:"files,omitempty"` // by absolute path
	// Gaps are reasons why changes of commands may be missing.
	Gaps []string `json:"left,omitempty"`
	// Open is set while the turn runs. The survey before its commands is then kept
	// too.
	Open string `json:"open,omitempty"`

	kept int64 // bytes of contents that calls of the running turn have kept so far
}

func (p *point) has(path string) bool {
	_, ok := p.Files[path]
	return ok
}

// addGap adds a reason why changes may be missing.
func (p *point) addGap(why string) {
	if !slices.Contains(p.Gaps, why) {
		p.Gaps = append(p.Gaps, why)
	}
}

// changed returns the files that the turn changed, sorted, without directories.
func (p *point) changed() []string {
	var paths []string
	for path, c := range p.Files {
		if !c.Before.IsDir() && !c.After.IsDir() {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// change is one entry before and after a turn.
type change struct {
	Before undo.State `json:"before"`
	After  undo.State `json:"after"`
	// Unsure says that After was found later, when the user may have changed the file.
	Unsure bool `json:"unsure,omitempty"`
}

func (s *Session) pointFile(seq int) string {
	return filepath.Join(s.dir, fmt.Sprintf("%06d.json", seq))
}
func (s *Session) openFile(seq int) string {
	return filepath.Join(s.dir, fmt.Sprintf("%06d.index", seq))
}

// pointNames returns the files of the points of a session, in order.
func pointNames(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9][0-9][0-9][0-9].json")) // sorted
}

// points returns the points of the session, in order. The caller holds s.mu.
func (s *Session) points() ([]*point, error) {
	s.retryUnsaved()
	names, err := pointNames(s.dir)
	if err != nil {
		return nil, err
	}
	var all []*point
	for seq, p := range s.unsaved {
		names = slices.DeleteFunc(names, func(name string) bool { return name == s.pointFile(seq) })
		c := *p
		c.Files = maps.Clone(p.Files)
		all = append(all, &c)
	}
	for _, name := range names {
		p := &point{}
		if _, err := undo.ReadJSON(name, p); err != nil {
			s.Log.Warn("a point of a rewind cannot be read", "file", name, "err", err)
			continue
		}
		if p.Files == nil {
			p.Files = map[string]change{}
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *point) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, nil
}

// ensurePoint returns the point of the running turn; the caller holds s.mu.
func (s *Session) ensurePoint() (*point, error) {
	if s.point != nil {
		return s.point, nil
	}
	names, err := pointNames(s.dir)
	if err != nil {
		return nil, err
	}
	last := 0
	if n := len(names); n > 0 {
		last, _ = strconv.Atoi(strings.TrimSuffix(filepath.Base(names[n-1]), ".json"))
	}
	for seq := range s.unsaved {
		last = max(last, seq)
	}
	s.point = &point{Seq: last + 1, Turn: s.turn, MessageID: s.message, Files: map[string]change{}, Open: s.message}
	s.forgetRewinds()
	return s.point, nil
}

// save stores a point. If that fails, the point stays in memory.
func (s *Session) save(p *point) {
	err := undo.WriteJSON(s.pointFile(p.Seq), p, false)
	if err == nil {
		delete(s.unsaved, p.Seq)
		return
	}
	s.unsaved[p.Seq] = p
	s.Log.Warn("the changes of a turn cannot be kept", "session", s.Session, "err", err)
}

// retryUnsaved stores the points that could not be stored; the disk may have room now.
func (s *Session) retryUnsaved() {
	for _, p := range s.unsaved {
		s.save(p)
	}
}

func (s *Session) drop(p *point) {
	delete(s.unsaved, p.Seq)
	os.Remove(s.pointFile(p.Seq))
}

// prune drops the oldest points beyond the number that is kept.
func (s *Session) prune() {
	for {
		names, err := pointNames(s.dir)
		if err != nil || len(names) <= s.Config.MaxTurns {
			return
		}
		if err := dropPoint(names[0]); err != nil {
			s.Log.Warn("an old point of a rewind cannot be dropped", "file", names[0], "err", err)
			return
		}
	}
}

// droppedMark names the last turn of a session whose point was dropped.
type droppedMark struct {
	Turn int `json:"turn"`
}

func droppedFile(dir string) string { return filepath.Join(dir, "dropped.json") }

// dropPoint removes the oldest point of a session.
func dropPoint(name string) error {
	var p point
	if _, err := undo.ReadJSON(name, &p); err != nil {
		return err
	}
	if err := undo.WriteJSON(droppedFile(filepath.Dir(name)), droppedMark{p.Turn}, false); err != nil {
		return err
	}
	return os.Remove(name)
}

// droppedTurn returns the last turn whose files are no longer kept.
func (s *Session) droppedTurn() int {
	var d droppedMark
	if _, err := undo.ReadJSON(droppedFile(s.dir), &d); err != nil {
		s.Log.Warn("the dropped points of a rewind cannot be read", "session", s.Session, "err", err)
	}
	return d.Turn
}

// paths returns the changed paths, sorted.
func (p *point) paths() []string { return slices.Sorted(maps.Keys(p.Files)) }
