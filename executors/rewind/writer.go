package rewind

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// writer changes entries of the workspace. It makes read-only directories writable
// until close.
type writer struct {
	roots *workspace.Roots
	id    string // of the rewind, which no program can predict
	modes map[string]fs.FileMode
}

var errNotEmpty = errors.New("the directory is not empty")

// inParent calls do with the open parent directory of a path, and the name of its entry.
func (w *writer) inParent(path string, do func(dir *workspace.Dir, name string) error) error {
	try := func() error {
		dir, name, err := w.roots.Parent(path)
		if err != nil {
			return err
		}
		defer dir.Close()
		return do(dir, name)
	}
	err := try()
	parent := filepath.Dir(path)
	if !errors.Is(err, fs.ErrPermission) || !w.roots.Contains(parent) {
		return err
	}
	info, statErr := w.roots.Lstat(parent)
	if statErr != nil || info.Mode().Perm()&0o700 == 0o700 || w.chmod(parent, info.Mode()|0o700) != nil {
		return err
	}
	if w.modes == nil {
		w.modes = map[string]fs.FileMode{}
	}
	w.modes[parent] = info.Mode()
	return try()
}

// close restores the modes of directories that were made writable.
func (w *writer) close() {
	for dir, mode := range w.modes {
		_ = w.chmod(dir, mode) // it may no longer exist
	}
}

func (w *writer) remove(path string) error {
	return w.inParent(path, func(dir *workspace.Dir, name string) error {
		err := dir.Remove(name)
		switch {
		case missing(err):
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
		temp := w.temporary(path)
		err := create(dir, temp)
		if err == nil {
			err = dir.Replace(name, temp)
		}
		if err != nil {
			_ = dir.Remove(temp)
		}
		return err
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

// chmod sets the mode of a file or directory, even if it cannot be opened.
func (w *writer) chmod(path string, mode fs.FileMode) error {
	top, rel := "", ""
	for _, dir := range w.roots.Dirs() {
		if r, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(r) && (top == "" || len(dir) > len(top)) {
			top, rel = dir, r
		}
	}
	root, err := os.OpenRoot(top) // does not follow links outside
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Chmod(strings.TrimPrefix(rel, "./"), mode)
}
