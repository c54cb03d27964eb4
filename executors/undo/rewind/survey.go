package rewind

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// survey returns the state of the session's directories, without the entries that .gitignore leaves
// out. It keeps the contents that differ from old.
func (s *Session) survey(ctx context.Context, old undo.Index) (undo.Index, error) {
	dirs := undo.Outermost(s.Dirs)
	survey := undo.Survey{
		Roots: s.Roots, Limits: s.Limits, Store: s.store, Ignore: true,
		Covers: func(path string, _ bool) bool { return !slices.Contains(dirs, path) },
	}
	return survey.Run(ctx, dirs, old)
}

// latest is the last survey of a workspace, as its file has it.
type latest struct {
	index undo.Index
	file  fs.FileInfo
}

// maxInMemory bounds the entries of a survey that stays in memory between turns.
const maxInMemory = 20_000

// loadIndex returns the last survey of this workspace, whose contents are kept.
// A damaged one is ignored, which only costs time.
func (s *Session) loadIndex() undo.Index {
	info, err := os.Stat(s.indexFile())
	if err != nil {
		return nil
	}
	if was := s.latest.file; was != nil && os.SameFile(was, info) && was.ModTime().Equal(info.ModTime()) {
		return s.latest.index
	}
	var found undo.Index
	if _, err := undo.ReadJSON(s.indexFile(), &found); err != nil {
		return nil
	}
	s.latest = latest{found, info}
	return found
}

// keepIndex stores a survey as the last one. If also is not empty, that file becomes a
// copy of it.
func (s *Session) keepIndex(found undo.Index, also string) error {
	was := s.loadIndex()
	if s.latest.file == nil || was == nil || !maps.Equal(was, found) {
		if err := undo.WriteJSON(s.indexFile(), found, false); err != nil {
			return err
		}
		info, err := os.Stat(s.indexFile())
		if err != nil {
			return err
		}
		s.latest = latest{found, info}
	}
	if also == "" {
		return nil
	}
	return undo.WriteJSON(also, found, false)
}
