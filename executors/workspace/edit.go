package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Missing reports whether err means that a path does not exist.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// InParent calls do with the open parent directory of abs, a path from Resolve, and the
// name of its entry. If do fails since the directory is read-only, InParent makes it
// writable, adds its former mode to modes, and calls do again. The caller restores modes.
func (r *Roots) InParent(abs string, modes map[string]fs.FileMode, do func(dir *Dir, name string) error) error {
	try := func() error {
		dir, name, err := r.Parent(abs)
		if err != nil {
			return err
		}
		defer dir.Close()
		return do(dir, name)
	}
	err := try()
	parent := filepath.Dir(abs)
	if !errors.Is(err, fs.ErrPermission) || !r.Contains(parent) {
		return err
	}
	info, statErr := r.Lstat(parent)
	if statErr != nil || info.Mode().Perm()&0o700 == 0o700 || r.Chmod(parent, info.Mode()|0o700) != nil {
		return err
	}
	modes[parent] = info.Mode()
	return try()
}

// Chmod sets the mode of the file or directory at abs, a path from Resolve, even if it
// cannot be opened.
func (r *Roots) Chmod(abs string, mode fs.FileMode) error {
	if r.Hidden().Hides(abs) {
		return &AgentFileError{Path: abs}
	}
	dir, rel := r.Innermost(abs)
	root, err := os.OpenRoot(dir) // does not follow links outside
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Chmod(rel, mode)
}

// Innermost returns the innermost root that contains abs, and the path from there. If
// there is none, it returns "" and abs.
func (r *Roots) Innermost(abs string) (dir, rel string) {
	rel = abs
	for _, d := range r.dirs {
		if below, ok := relative(d, abs); ok && len(d) > len(dir) {
			dir, rel = d, below
		}
	}
	return dir, rel
}

// ReplaceNew calls create with the name temp, and renames the result to name, replacing the
// file there, if any. A file that cannot be replaced is overwritten with the result, if that
// is a regular file too. If that fails, ReplaceNew removes temp.
func (d *Dir) ReplaceNew(name, temp string, create func(temp string) error) error {
	err := create(temp)
	if err == nil {
		if err = d.Replace(name, temp); err == nil {
			return nil
		}
		if Irreplaceable(err) && d.isRegular(name) && d.isRegular(temp) {
			err = d.overwriteFrom(name, temp)
		}
	}
	_ = d.Remove(temp)
	return err
}

func (d *Dir) isRegular(name string) bool {
	info, err := d.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}
