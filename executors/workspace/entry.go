package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ResolveEntry is Resolve for what the last name of path is itself: a symlink
// there is not followed. One that is written as a directory ("link/") is an
// error, since it is not clear which of the two is meant.
func (r *Roots) ResolveEntry(path string) (string, error) {
	abs, err := r.absolute(path)
	if err != nil {
		return "", err
	}
	dir, err := follow(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	if filepath.Dir(abs) != abs {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	if err := r.judge(abs, path); err != nil {
		return "", err
	}
	if namesDirectory(path) {
		if info, err := os.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a symbolic link, not a directory; to mean the link itself, leave out what follows its name", path)
		}
	}
	return abs, nil
}

// namesDirectory reports whether a path says that what it names is a directory.
func namesDirectory(path string) bool {
	path = filepath.ToSlash(path)
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.")
}

// Holds reports whether the directory abs is a root, by whatever name, or one is
// inside of it.
func (r *Roots) Holds(abs string) bool {
	info, err := os.Lstat(abs)
	if err != nil {
		return false
	}
	for i, dir := range r.dirs {
		if Encloses(abs, info, dir) || Encloses(abs, info, r.given[i]) {
			return true
		}
	}
	return false
}

// Encloses reports whether path, absolute, is what is at abs, known by info too,
// or inside of it.
func Encloses(abs string, info fs.FileInfo, path string) bool {
	for {
		if sameName(path, abs) {
			return true
		}
		if at, err := os.Lstat(path); err == nil && os.SameFile(at, info) && info.IsDir() {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// InGit reports whether abs, a path from Resolve, is named .git or inside of
// what is, by any of the names that some file system has for it. Names above
// the root do not count.
func (r *Roots) InGit(abs string) bool {
	rel := abs
	if top, ok := r.root(abs); ok {
		rel, _ = within(top, abs)
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		switch fold(strings.Map(seen, name)) {
		case ".git", "git~1":
			return true
		}
	}
	return false
}

// seen takes out the characters that HFS+ leaves out of names.
func seen(c rune) rune {
	if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
		return -1
	}
	return c
}

// Mkdir makes the directory name, which must not exist, with that mode whatever
// the umask is.
func (d *Dir) Mkdir(name string, mode fs.FileMode) error {
	if err := d.may(name); err != nil {
		return err
	}
	if err := d.root.Mkdir(name, 0o700); err != nil {
		return err
	}
	return d.Chmod(name, mode)
}

// Readlink returns the target of the symlink name.
func (d *Dir) Readlink(name string) (string, error) {
	if _, err := d.Lstat(name); err != nil {
		return "", err
	}
	return d.root.Readlink(name)
}

// Symlink makes name, which must not exist, a symlink to target, which is not
// judged.
func (d *Dir) Symlink(target, name string) error {
	if err := d.may(name); err != nil {
		return err
	}
	return d.root.Symlink(target, name)
}

// Chmod sets the mode of a file or directory; a link gets an *IrregularError.
func (d *Dir) Chmod(name string, mode fs.FileMode) error {
	if err := d.noLink(name); err != nil {
		return err
	}
	return d.root.Chmod(name, mode)
}

// Chtimes sets when a file or directory was last changed; a link gets an
// *IrregularError.
func (d *Dir) Chtimes(name string, changed time.Time) error {
	if err := d.noLink(name); err != nil {
		return err
	}
	return d.root.Chtimes(name, time.Time{}, changed)
}

func (d *Dir) noLink(name string) error {
	info, err := d.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = &IrregularError{Path: name, Mode: info.Mode()}
	}
	return err
}

// may fails for a name that nothing may be made under.
func (d *Dir) may(name string) error {
	if d.here.hides(name) {
		return &PrivateError{Path: name}
	}
	if v := d.view.enter(name, true); !v.passes(false) {
		return v.refusal(name)
	}
	return nil
}

// Rename moves name to the directory to under another name, where nothing may
// be: the error is then fs.ErrExist. A symlink is moved itself. Where the two
// are on different devices, CrossDevice knows the error.
func (d *Dir) Rename(name string, to *Dir, newName string) error {
	if _, err := d.Lstat(name); err != nil {
		return err
	}
	if err := to.may(newName); err != nil {
		return err
	}
	return linkError(renameNew(d, name, to, newName), newName)
}

// Respell returns name another spelling, which for the file system is the same
// name.
func (d *Dir) Respell(name, spelling string) error {
	before, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if after, err := d.Lstat(spelling); err == nil && !os.SameFile(before, after) {
		return &fs.PathError{Op: "rename", Path: spelling, Err: fs.ErrExist}
	}
	return d.root.Rename(name, spelling)
}

// vacant fails with fs.ErrExist if something is at name.
func (d *Dir) vacant(name string) error {
	_, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = fs.ErrExist
	}
	return err
}

func linkError(err error, name string) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "rename", Path: name, Err: Cause(err)}
}

// Leads reports whether the absolute path, with symlinks and ".." still in it,
// leads to what is in a root and not refused. It need not exist.
func (r *Roots) Leads(path string) bool {
	resolved, err := follow(path)
	return err == nil && r.Contains(resolved) && r.judge(resolved, path) == nil
}
