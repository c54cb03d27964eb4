package undo

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Reader reads the states of many paths on the disk. It is cheap for paths in the order of a walk,
// and not for concurrent use. The zero value is not usable; see [NewReader].
type Reader struct {
	Left int64 // how many bytes of contents it may still keep
	Full bool  // it may keep no more contents

	limits   Limits
	store    Store
	entries  *workspace.Cursor
	contents *workspace.Cursor // by the rules for reading
}

// NewReader returns a reader for one pass over the files, which puts their contents into the store. The caller
// closes it.
func NewReader(roots *workspace.Roots, limits Limits, store Store) *Reader {
	return &Reader{
		Left: math.MaxInt64, limits: limits, store: store, entries: roots.Writing().Cursor(), contents: roots.Cursor(),
	}
}

// Close closes the directories that are open. The reader can still be used.
func (r *Reader) Close() {
	r.entries.Close()
	r.contents.Close()
}

// State returns the present state of a path, and keeps its content.
func (r *Reader) State(path string) State {
	state, err := r.read(path)
	if err != nil {
		if workspace.Missing(err) {
			return State{}
		}
		return State{Mode: present, NotKept: "it cannot be read: " + workspace.Cause(err).Error()}
	}
	return state
}

// read returns the present state of a path, and keeps the content of a file that may be
// read and is not too large.
func (r *Reader) read(path string) (State, error) {
	dir, name, err := r.entries.Parent(path)
	if err != nil {
		return State{}, err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return State{}, err
	}
	state := State{Mode: modeOf(info), Linked: workspace.LinkID(info)}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		state.Target, err = dir.Readlink(name)
		return state, err
	case !info.Mode().IsRegular():
		return state, nil
	}
	switch state.Size = info.Size(); {
	case state.Size > r.limits.MaxFileBytes:
		state.NotKept = r.limits.tooLarge()
		return state, nil
	case r.Full || state.Size > r.Left:
		state.NotKept = r.limits.TooManyBytes().Error()
		return state, nil
	}
	kept, err := r.content(path, state)
	if denied, ok := errors.AsType[*workspace.DeniedError](err); ok {
		state.NotKept = "it may not be read (" + denied.Key() + ")"
		return state, nil
	}
	if err == nil {
		r.Left -= state.Size
	}
	return kept, err
}

// content returns the state with the content of the file, which it keeps, one byte over the limit at most.
func (r *Reader) content(path string, state State) (State, error) {
	dir, name, err := r.contents.Parent(path)
	if err != nil {
		return State{}, err
	}
	f, _, err := dir.Open(name, os.O_RDONLY)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	return Keep(r.store, state, io.LimitReader(f, min(r.limits.MaxFileBytes, r.Left, math.MaxInt64-1)+1))
}

// Keep returns the state of a file with another content, which it puts into the store. A content
// that cannot be kept can still be compared. The error is the reader's.
func Keep(store Store, state State, content io.Reader) (State, error) {
	source := &source{Reader: content}
	var err error
	state.Hash, state.Size, err = store.Put(source)
	if source.err != nil {
		return State{}, source.err
	}
	if state.NotKept = ""; err != nil {
		state.NotKept = "its content could not be kept: " + workspace.Cause(err).Error()
	}
	return state, nil
}

// source is a reader that remembers its error.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
