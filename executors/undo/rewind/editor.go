package rewind

import (
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// editorFS is an FS that records the texts which a tool reads and writes. So the text
// of a buffer with unsaved changes is kept too, without another request to the editor.
type editorFS struct {
	FS
	read, write bool // through the editor; otherwise the FS is the disk

	mu       sync.Mutex
	running  int               // calls
	lastRead map[string]string // text by path
	wrote    map[string]written
}

// written is a text that replaced another one. Old is nil if no tool read it
// before.
type written struct {
	old *string
	new string
}

// Editor returns an FS that records the texts of fs. read and write report whether fs
// reads and writes through the editor. It returns fs itself if s is nil.
func (s *Session) Editor(fs FS, read, write bool) FS {
	if s == nil {
		return fs
	}
	s.editor = &editorFS{FS: fs, read: read, write: write}
	return s.editor
}

func (e *editorFS) reads() bool  { return e != nil && e.read }
func (e *editorFS) writes() bool { return e != nil && e.write }

// ReadFile reads as the FS does.
func (e *editorFS) ReadFile(ctx context.Context, path string) (string, error) {
	text, err := e.FS.ReadFile(ctx, path)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running > 0 && err == nil {
		if _, ok := e.wrote[path]; !ok {
			e.lastRead[path] = text
		}
	}
	return text, err
}

// WriteFile writes as the FS does.
func (e *editorFS) WriteFile(ctx context.Context, path, text string) error {
	err := e.FS.WriteFile(ctx, path, text)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running > 0 && err == nil {
		w := e.wrote[path]
		if old, ok := e.lastRead[path]; ok && w.old == nil {
			w.old = &old
		}
		w.new = text
		e.wrote[path] = w
	}
	return err
}

// begin starts to record texts for a call.
func (e *editorFS) begin() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running++; e.running == 1 {
		e.lastRead, e.wrote = map[string]string{}, map[string]written{}
	}
}

// end returns the texts that were written since begin.
func (e *editorFS) end() map[string]written {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running--; e.running > 0 { // other calls continue, such as sub-agents' calls
		return maps.Clone(e.wrote)
	}
	wrote := e.wrote
	e.lastRead, e.wrote = nil, nil
	return wrote
}

// withEditorTexts returns a change with the texts that a tool exchanged, since the disk
// may have others. first reports that it is the first change of the file in the turn.
func (s *Session) withEditorTexts(path string, c change, w written, first bool) change {
	if _, refused := s.Roots.Readable().Refuses(path); refused {
		return c
	}
	if w.old != nil && first {
		c.Before = s.withText(c.Before, *w.old)
	}
	c.After = s.withText(c.After, w.new)
	return c
}

// withText returns the state of a file with another content. A file that is not UTF-8 stays as it is on the
// disk: the editor encodes its text.
func (s *Session) withText(state undo.State, text string) undo.State {
	if state.Exists() && !state.IsFile() {
		return state
	}
	if data, err := undo.Read(s.store, state.Hash); state.Hash != "" && err == nil && !undo.IsText(data) {
		return state
	}
	if !state.Exists() {
		state.Mode = undo.NewFile
	}
	state, _ = undo.Keep(s.store, state, strings.NewReader(text)) // a text has no errors
	return state
}
