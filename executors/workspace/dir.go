package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Dir is an open directory inside the roots. Its methods accept names of its entries.
// They do not follow links out of the roots, and return a *AgentFileError for hidden
// entries without opening them. A Dir is not for concurrent use.
type Dir struct {
	root    *os.Root
	abs     string
	rel     string // slash-separated, relative to the outermost root
	top     string // the outermost root
	hidden  *HiddenFiles
	rules   dirRules
	verdict readVerdict
	denied  int
}

// Dir opens the directory at abs, a path from Resolve. The caller closes it.
func (r *Roots) Dir(abs string) (*Dir, error) { return r.Descend(abs, nil) }

// Descend is like Dir. It also calls each for every directory from the outermost
// root down to abs, with the name of the next directory.
func (r *Roots) Descend(abs string, each func(dir *Dir, next string)) (*Dir, error) {
	return r.descend(abs, each, (*Dir).Sub)
}

// MakeDir is like Dir and creates missing directories.
func (r *Roots) MakeDir(abs string) (*Dir, error) {
	return r.descend(abs, nil, func(d *Dir, name string) (*Dir, error) {
		sub, err := d.Sub(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return sub, err
		}
		if err := d.root.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		return d.Sub(name)
	})
}

// Parent opens the parent directory of abs, a path from Resolve, and returns the
// entry's name. For a root it opens the root itself, and the name is ".". The
// caller closes the directory.
func (r *Roots) Parent(abs string) (dir *Dir, name string, err error) {
	at, name := split(abs)
	if _, ok := r.Top(at); !ok {
		at, name = abs, "."
	}
	dir, err = r.Dir(at)
	return dir, name, err
}

// split returns the directory of abs and the entry's name. The directory / is its own entry ".".
func split(abs string) (at, name string) {
	if at = filepath.Dir(abs); at == abs {
		return at, "."
	}
	return at, filepath.Base(abs)
}

// descend opens the directory abs, one name after the other, from its root. each, which may be
// nil, is called before every step. step opens the next directory.
func (r *Roots) descend(abs string, each func(*Dir, string), step func(*Dir, string) (*Dir, error)) (*Dir, error) {
	top, ok := r.Top(abs)
	if !ok {
		return nil, &OutsideError{Path: abs, Given: abs, Roots: r.Dirs()}
	}
	hidden := r.Hidden()
	if hidden.Hides(top) { // a directory above it is hidden
		return nil, &AgentFileError{Path: abs}
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	var v readVerdict
	if r.read != nil {
		v = r.read.verdictOn(top)
	}
	dir, err := newDir(root, Dir{abs: top, rel: ".", top: top, hidden: hidden, verdict: v})
	if err != nil {
		return nil, err
	}
	rel, _ := relative(top, abs)
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if name == "." {
			break
		}
		if each != nil {
			each(dir, name)
		}
		next, err := step(dir, name)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// newDir checks that the directory open as root may be used. It takes ownership of
// root, even if it fails.
func newDir(root *os.Root, d Dir) (*Dir, error) {
	d.root = root
	err := d.admit()
	if err != nil {
		root.Close()
		return nil, err
	}
	return &d, nil
}

// admit returns an error if the directory may not be used, and sets its rules.
func (d *Dir) admit() error {
	if !d.verdict.mayTraverse() {
		return d.verdict.refusal(d.abs)
	}
	if d.hidden == nil {
		return nil
	}
	info, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	if d.rules = d.hidden.rulesAt(d.abs, info, nil); d.rules.hidden {
		return &AgentFileError{Path: d.abs}
	}
	return nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.root.Close() }

// Rel returns the directory's slash-separated path relative to the outermost root,
// "." for the root itself.
func (d *Dir) Rel() string { return d.rel }

// Sub opens the directory name. The caller closes it.
func (d *Dir) Sub(name string) (*Dir, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() { // opening a FIFO would wait for its writer
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(info, opened) { // replaced by a link to another directory below this one
		err = errExchanged
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return newDir(root, Dir{
		abs: filepath.Join(d.abs, name), rel: path.Join(d.rel, name), top: d.top,
		hidden: d.hidden, verdict: d.verdict.enter(name),
	})
}

// Lstat describes the entry name. It returns the errors of os.Lstat, a
// *AgentFileError or a *DeniedError.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	if d.rules.hides(name) {
		return nil, &AgentFileError{Path: name}
	}
	info, err := d.root.Lstat(name)
	if d.verdict.read != nil && name != "." {
		if v := d.verdict.enter(name); !v.passes(err == nil && info.IsDir()) {
			return nil, v.refusal(name)
		}
	}
	if err == nil && d.hidden != nil {
		if info.IsDir() && d.hidden.rulesAt(filepath.Join(d.abs, name), info, nil).hidden ||
			!info.IsDir() && d.hidden.isHiddenFile(info) {
			return nil, &AgentFileError{Path: name}
		}
	}
	return info, err
}

// ReadDir lists at most n entries and reads no further; n < 0 means all. It leaves
// out hidden entries and reports in hidden whether there were any. It also leaves
// out entries that may not be read; Denied counts these.
func (d *Dir) ReadDir(n int) (entries []fs.DirEntry, hidden bool, err error) {
	f, err := d.root.OpenFile(".", os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	entries, err = f.ReadDir(n)
	if d.verdict.read != nil {
		all := len(entries)
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
			return !d.verdict.lists(e.Name(), e.IsDir())
		})
		d.denied = all - len(entries)
	}
	if d.hidden == nil {
		return entries, false, err
	}
	all := len(entries)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		if !e.IsDir() {
			return d.rules.hides(e.Name())
		}
		_, err := d.Lstat(e.Name())
		_, hidden := errors.AsType[*AgentFileError](err)
		return hidden
	})
	return entries, len(entries) < all, err
}

// Denied returns how many entries the last ReadDir left out because they may not
// be read.
func (d *Dir) Denied() int { return d.denied }

// Create creates the file name, which must not exist, for writing. The caller
// closes it.
func (d *Dir) Create(name string, mode fs.FileMode) (*os.File, error) {
	if err := d.mayCreate(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// Replace renames the file by to name, replacing the file there, if any.
func (d *Dir) Replace(name, by string) error {
	if _, err := d.Lstat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.root.Rename(by, name)
}

// Remove removes the file, link or empty directory name.
func (d *Dir) Remove(name string) error {
	if _, err := d.Lstat(name); err != nil {
		return err
	}
	return d.root.Remove(name)
}
