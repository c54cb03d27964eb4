package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ResolveEntry is like Resolve but does not follow a symlink in the last name of
// path. A symlink written as a directory ("link/") is an error, since it is not
// clear whether the link or its target is meant.
func (r *Roots) ResolveEntry(path string) (string, error) {
	abs, err := r.absolute(path)
	if err != nil {
		return "", err
	}
	if r.stats == nil {
		r = r.WithStats(&StatCache{})
	}
	dir, err := r.stats.follow(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	if filepath.Dir(abs) != abs {
		name := filepath.Base(abs)
		if _, err := r.stats.Lstat(filepath.Join(dir, name)); Missing(err) {
			if name, err = r.stats.twin(dir, name); err != nil {
				return "", fmt.Errorf("resolve %s: %w", path, err)
			}
		}
		abs = filepath.Join(dir, name)
	}
	if err := r.check(abs, path); err != nil {
		return "", err
	}
	if namesDirectory(path) {
		if info, err := r.stats.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a symbolic link, not a directory; to name the link itself, remove the slash at the end", path)
		}
	}
	return abs, nil
}

// namesDirectory reports whether a path is written as a directory.
func namesDirectory(path string) bool {
	path = filepath.ToSlash(path)
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.")
}

// ContainsRoot reports whether the directory abs is a root, under any name, or contains a
// root.
func (r *Roots) ContainsRoot(abs string) bool {
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

// Encloses reports whether path, which is absolute, is abs or inside it. info
// describes abs and is compared as well.
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

// InGit reports whether abs, a path from Resolve, is named .git or lies inside a
// directory named so. It recognizes all spellings that some file system accepts.
// Names above the root do not count.
func (r *Roots) InGit(abs string) bool {
	rel := abs
	if top, ok := r.root(abs); ok {
		rel, _ = relative(top, abs)
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		switch fold(strings.Map(dropIgnorable, name)) {
		case ".git", "git~1":
			return true
		}
	}
	return false
}

// dropIgnorable removes the characters that HFS+ ignores in names.
func dropIgnorable(c rune) rune {
	if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
		return -1
	}
	return c
}

// Mkdir creates the directory name, which must not exist, with exactly this mode,
// regardless of the umask.
func (d *Dir) Mkdir(name string, mode fs.FileMode) error {
	if err := d.mayCreate(name); err != nil {
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

// Symlink creates name, which must not exist, as a symlink to target. It does not
// check target.
func (d *Dir) Symlink(target, name string) error {
	if err := d.mayCreate(name); err != nil {
		return err
	}
	return d.root.Symlink(target, name)
}

// Chmod sets the mode of a file or directory. A link gets an *IrregularError.
func (d *Dir) Chmod(name string, mode fs.FileMode) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return &IrregularError{Path: name, Mode: info.Mode()}
	}
	return d.root.Chmod(name, mode)
}

// mayCreate returns an error if no entry called name may be created here.
func (d *Dir) mayCreate(name string) error {
	if d.rules.hides(name) {
		return &AgentFileError{Path: name}
	}
	if v := d.verdict.enter(name); !v.mayRead() {
		return v.refusal(name)
	}
	return nil
}

// Rename moves name to the directory to under another name. If that name exists,
// the error is fs.ErrExist. A symlink is moved itself, not its target. If the
// directories are on different devices, CrossDevice reports true for the error.
func (d *Dir) Rename(name string, to *Dir, newName string) error {
	if _, err := d.Lstat(name); err != nil {
		return err
	}
	if err := to.mayCreate(newName); err != nil {
		return err
	}
	return linkError(renameNew(d, name, to, newName), newName)
}

// Respell changes the spelling of name to one that the file system treats as the
// same name.
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

// checkVacant returns fs.ErrExist if an entry called name exists.
func (d *Dir) checkVacant(name string) error {
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

// LeadsInside reports whether the absolute path, which may contain symlinks and "..",
// leads to an allowed place in a root. It need not exist.
func (r *Roots) LeadsInside(path string) bool {
	resolved, err := r.stats.follow(path)
	return err == nil && r.Contains(resolved) && r.check(resolved, path) == nil
}
