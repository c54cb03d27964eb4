package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
)

// maxWatched bounds how many files and directories a result can depend on and
// still be cached. Checking them all must be cheaper than the walk.
const maxWatched = 2000

// watch collects the dependencies of the result of a walk: the listed
// directories, the files that were read, and the ignore files. Its methods may
// be called concurrently.
type watch struct {
	tools    *tools
	start    target
	ignoring bool
	began    time.Time
	outside  string // the ignore files outside the roots

	unusable atomic.Bool // too many paths, or one that cannot be watched
	mu       sync.Mutex
	paths    []string
}

// watch returns a watch for a walk from tg, before the walk begins.
func (t *tools) watch(tg target, ignoring bool) *watch {
	w := &watch{tools: t, start: tg, ignoring: ignoring, began: time.Now()}
	if ignoring {
		w.outside = walk.Outside(t.roots, tg.abs)
	}
	w.directory(tg.abs)
	for dir := tg.abs; ignoring && !slices.Contains(t.roots.Dirs(), dir) && t.roots.Contains(filepath.Dir(dir)); {
		dir = filepath.Dir(dir)
		w.directory(dir)
	}
	return w
}

// entry adds an entry of the walk: a directory, or a file or link that is read.
func (w *watch) entry(e walk.Entry) {
	if w.unusable.Load() {
		return
	}
	abs := filepath.Join(w.start.abs, filepath.FromSlash(e.Path()))
	switch {
	case e.Type.IsDir():
		w.directory(abs)
	case e.Type.IsRegular():
		w.add(abs)
	default: // the target of a link may change without a trace
		w.unusable.Store(true)
	}
}

// directory adds a directory with its ignore files. A new ignore file changes
// the time of the directory, except in .git.
func (w *watch) directory(abs string) {
	w.add(abs)
	if !w.ignoring {
		return
	}
	for _, name := range []string{".ignore", ".gitignore"} {
		if _, err := os.Lstat(filepath.Join(abs, name)); err == nil {
			w.add(filepath.Join(abs, name))
		}
	}
	git := filepath.Join(abs, walk.GitDir)
	switch info, err := os.Lstat(git); {
	case err != nil:
	case info.IsDir():
		w.add(filepath.Join(git, "info", "exclude"))
	default: // it names another repository
		w.add(git)
		if exclude := walk.LinkedExclude(abs); exclude != "" {
			w.add(exclude)
		}
	}
}

func (w *watch) add(abs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.paths) == maxWatched {
		w.unusable.Store(true)
		return
	}
	w.paths = append(w.paths, abs)
}

// pathState is the state of one path.
type pathState struct {
	path string
	info fs.FileInfo // nil: it does not exist
}

// pathStateBytes is about the size of a pathState in memory, without its path.
const pathStateBytes = 400

// valid returns a function for Result.Valid, after the walk. It reports whether
// all dependencies are unchanged. The cache itself checks that the call's path
// still leads to the start. The function is nil if a dependency changed shortly
// before the walk or later, because the change may have happened during the
// read. size is the memory of the function, in bytes.
func (w *watch) valid() (unchanged func() bool, size int) {
	if w.unusable.Load() {
		return nil, 0
	}
	states := make([]pathState, len(w.paths))
	size = len(w.outside)
	for i, path := range w.paths {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && strings.Contains(path, walk.GitDir):
		case err != nil:
			return nil, 0
		case w.began.Sub(info.ModTime()) < stableAge || w.began.Sub(statusChanged(info)) < stableAge:
			return nil, 0
		}
		states[i] = pathState{path, info}
		size += pathStateBytes + len(path)
	}
	return func() bool { return w.unchanged(states) }, size
}

// unchanged reports whether all paths, and the ignore files outside the roots, are as the walk saw them.
func (w *watch) unchanged(states []pathState) bool {
	if w.ignoring && walk.Outside(w.tools.roots, w.start.abs) != w.outside {
		return false
	}
	for _, s := range states {
		info, err := os.Lstat(s.path)
		if s.info == nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return false
			}
			continue
		}
		if err != nil || !sameState(s.info, info) {
			return false
		}
	}
	return true
}
