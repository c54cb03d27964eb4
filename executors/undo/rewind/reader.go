package rewind

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// reader reads the states of many paths on the disk. It is cheap for paths in the order of a walk,
// and not for concurrent use.
type reader struct {
	session  *Session
	entries  *workspace.Cursor
	contents *workspace.Cursor // by the rules for reading
	left     int64             // how many bytes of contents it may still keep
	full     bool              // it may keep no more contents
}

// reader returns a reader for one pass over the files. The caller closes it.
func (s *Session) reader() *reader {
	return &reader{session: s, entries: s.Roots.Writing().Cursor(), contents: s.Roots.Cursor(), left: math.MaxInt64}
}

// reserve announces the files of trees, of so many bytes together. If there is no room for
// all of them, none is kept: copying a part of a large tree would take long, and would
// push out the older turns.
func (r *reader) reserve(size int64) { r.full = size > r.left }

func (r *reader) close() {
	r.entries.Close()
	r.contents.Close()
}

// state returns the present state of a path, and keeps its content.
func (r *reader) state(path string) State {
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
func (r *reader) read(path string) (State, error) {
	dir, name, err := r.entries.Parent(path)
	if err != nil {
		return State{}, err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return State{}, err
	}
	state, limit := State{Mode: modeOf(info)}, r.session.Config.MaxFileBytes
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		state.Target, err = dir.Readlink(name)
		return state, err
	case !info.Mode().IsRegular():
		return state, nil
	}
	state.Size = info.Size()
	if state.Size > limit {
		state.NotKept = tooLarge(limit)
		return state, nil
	}
	if r.full || state.Size > r.left {
		state.NotKept = fmt.Sprintf("the turn has more than %s bytes (tools.rewind.max_bytes)", executors.Grouped(r.session.Config.MaxBytes))
		return state, nil
	}
	data, err := r.content(path, limit)
	if denied, ok := errors.AsType[*workspace.DeniedError](err); ok {
		state.NotKept = fmt.Sprintf("it may not be read (%s)", denied.Key())
		return state, nil
	}
	if err != nil {
		return State{}, err
	}
	r.left -= state.Size
	return r.session.withContent(state, data), nil
}

// content returns the content of a file, one byte over limit at most.
func (r *reader) content(path string, limit int64) ([]byte, error) {
	dir, name, err := r.contents.Parent(path)
	if err != nil {
		return nil, err
	}
	f, _, err := dir.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}
