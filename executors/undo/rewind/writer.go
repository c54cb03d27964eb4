package rewind

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// writer changes entries of the workspace. It makes read-only directories writable
// until close.
type writer struct {
	roots *workspace.Roots
	id    string                 // of the rewind, which no program can predict
	modes map[string]fs.FileMode // of directories before they were made writable
}

func newWriter(roots *workspace.Roots, id string) *writer {
	return &writer{roots.Writing(), id, map[string]fs.FileMode{}}
}

var errNotEmpty = errors.New("the directory is not empty")

func (w *writer) inParent(path string, do func(dir *workspace.Dir, name string) error) error {
	return w.roots.InParent(path, w.modes, do)
}

// close restores the modes of directories that were made writable.
func (w *writer) close() {
	for dir, mode := range w.modes {
		_ = w.roots.Chmod(dir, mode) // it may no longer exist
	}
}

func (w *writer) remove(path string) error {
	return w.inParent(path, func(dir *workspace.Dir, name string) error {
		err := dir.Remove(name)
		switch {
		case workspace.Missing(err):
			return nil
		case errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist):
			return errNotEmpty
		}
		return err
	})
}

func (w *writer) mkdir(path string) error {
	return w.inParent(path, func(dir *workspace.Dir, name string) error {
		err := dir.Mkdir(name, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
}

func (w *writer) link(path, target string) error {
	return w.replace(path, func(dir *workspace.Dir, temp string) error { return dir.Symlink(target, temp) })
}

// write replaces a file in one step.
func (w *writer) write(path string, data []byte, mode fs.FileMode) error {
	return w.replace(path, func(dir *workspace.Dir, temp string) error {
		f, err := dir.Create(temp, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Chmod(mode), f.Close())
	})
}

// replace calls create with a temporary name, and renames the result to path.
func (w *writer) replace(path string, create func(dir *workspace.Dir, temp string) error) error {
	return w.inParent(path, func(dir *workspace.Dir, name string) error {
		return dir.ReplaceNew(name, w.temporary(path), func(temp string) error { return create(dir, temp) })
	})
}

// temporary returns the name of a file while it is written. A killed process leaves it.
func (w *writer) temporary(path string) string {
	return ".zeph-rewind-" + hashOf([]byte(w.id + path))[:32]
}

// removeTemporary removes the temporary file of a path, if there is one.
func (w *writer) removeTemporary(path string) {
	_ = w.remove(filepath.Join(filepath.Dir(path), w.temporary(path)))
}
