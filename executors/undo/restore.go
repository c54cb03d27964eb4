package undo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Step is the restoration of one entry.
type Step struct {
	Path     string // absolute, without links
	From, To State
}

// Restorer makes steps. It makes read-only directories writable while it works.
type Restorer struct {
	Roots *workspace.Roots
	Store Store // of the contents
	// ID is the name of the restoration, which no program can predict.
	ID string
	// Text writes the text of a file that exists through the editor; nil if there is no editor.
	Text func(ctx context.Context, path, text string) error
	// Working is called before each file; nil is not called.
	Working func()

	modes  map[string]fs.FileMode // of directories before they were made writable
	failed map[string]error
}

var errNotEmpty = errors.New("the directory is not empty")

// Restore makes the steps, and returns the errors by path.
func (r *Restorer) Restore(ctx context.Context, steps []Step) map[string]error {
	r.modes, r.failed = map[string]fs.FileMode{}, map[string]error{}
	deepest := slices.SortedFunc(slices.Values(steps), func(a, b Step) int { return cmp.Compare(b.Path, a.Path) })
	for _, step := range deepest {
		if step.From.Exists() && !step.From.sameKind(step.To) {
			r.try(step, r.remove)
		}
	}
	for _, step := range slices.Backward(deepest) {
		if step.To.IsDir() && !step.From.IsDir() {
			r.try(step, r.mkdir)
		}
	}
	for _, step := range steps {
		if step.To.Exists() && !step.To.IsDir() {
			r.try(step, func(step Step) error { return r.restore(ctx, step) })
		}
	}
	for _, step := range deepest {
		if step.To.IsDir() {
			delete(r.modes, step.Path)
			r.try(step, r.chmod)
		}
	}
	for dir, mode := range r.modes {
		if err := r.Roots.Chmod(dir, mode); err != nil && !workspace.Missing(err) {
			r.failed[dir] = err
		}
	}
	return r.failed
}

// try makes a part of a step, unless an earlier part has failed.
func (r *Restorer) try(step Step, do func(Step) error) {
	if r.failed[step.Path] == nil {
		if err := do(step); err != nil {
			r.failed[step.Path] = err
		}
	}
}

func (r *Restorer) inParent(path string, do func(dir *workspace.Dir, name string) error) error {
	return r.Roots.Writing().InParent(path, r.modes, do)
}

// remove removes an entry. A new directory stays if files of the user are in it.
func (r *Restorer) remove(step Step) error {
	err := r.inParent(step.Path, func(dir *workspace.Dir, name string) error { return dir.Remove(name) })
	switch notEmpty := errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist); {
	case workspace.Missing(err), notEmpty && step.From.IsDir() && !step.To.Exists():
		return nil
	case notEmpty:
		return errNotEmpty
	}
	return err
}

func (r *Restorer) mkdir(step Step) error {
	return r.inParent(step.Path, func(dir *workspace.Dir, name string) error {
		err := dir.Mkdir(name, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
}

func (r *Restorer) chmod(step Step) error { return r.Roots.Writing().Chmod(step.Path, step.To.Perm()) }

// restore restores a file, or a link.
func (r *Restorer) restore(ctx context.Context, step Step) error {
	if r.Working != nil {
		r.Working()
	}
	from, to := step.From, step.To
	switch why := to.Unrestorable(); {
	case to.isLink():
		return r.replace(step.Path, func(dir *workspace.Dir, temp string) error { return dir.Symlink(to.Target, temp) })
	case !to.IsFile() && from.sameKind(to): // a pipe, for example
		return r.chmod(step)
	case why != "":
		return errors.New(why)
	case from.IsFile() && from.Hash == to.Hash:
		return r.chmod(step)
	}
	if from.IsFile() && r.Text != nil { // an editor may not save, and then a new file would still be missing
		data, err := Read(r.Store, to.Hash)
		if err != nil {
			return err
		}
		if IsText(data) {
			return r.throughEditor(ctx, step, string(data))
		}
	}
	if from.IsFile() && to.Linked != "" && to.Linked == r.linkID(step.Path) {
		return r.overwrite(step)
	}
	content, err := r.Store.Open(to.Hash)
	if err != nil {
		return err
	}
	err = r.replace(step.Path, func(dir *workspace.Dir, temp string) error { return write(dir, temp, content, to) })
	if from.IsFile() && workspace.Irreplaceable(err) {
		return r.overwrite(step)
	}
	return err
}

// linkID returns the present LinkID of a file.
func (r *Restorer) linkID(path string) string {
	info, err := r.Roots.Writing().Lstat(path)
	if err != nil {
		return ""
	}
	return workspace.LinkID(info)
}

// overwrite restores the content of a file that must stay the same file: it has had the same
// other names before the change, or it cannot be replaced.
func (r *Restorer) overwrite(step Step) error {
	content, err := r.Store.Open(step.To.Hash)
	if err != nil {
		return err
	}
	spool, err := os.CreateTemp("", "zeph-*")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(spool, sum), content)
	if err == nil && nameOf(sum) != step.To.Hash {
		err = errDamaged
	}
	if err != nil {
		return err
	}
	if step.From.Perm()&0o200 == 0 {
		if err := r.Roots.Writing().Chmod(step.Path, step.From.Perm()|0o200); err != nil {
			return err
		}
	}
	dir, name, err := r.Roots.Writing().Parent(step.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Overwrite(name, spool, size); err != nil {
		return err
	}
	if info, err := dir.Lstat(name); err == nil && modeOf(info) == step.To.Mode {
		return nil // whoever does not own the file cannot set its mode
	}
	return r.chmod(step)
}

// throughEditor restores a text through the editor, so that its buffer follows.
func (r *Restorer) throughEditor(ctx context.Context, step Step, text string) error {
	if step.From.Perm()&0o200 == 0 {
		if err := r.Roots.Writing().Chmod(step.Path, step.From.Perm()|0o200); err != nil {
			return err
		}
	}
	if err := r.Text(ctx, step.Path, text); err != nil {
		return err
	}
	return r.chmod(step)
}

// write writes a new file.
func write(dir *workspace.Dir, name string, content io.Reader, to State) error {
	f, err := dir.Create(name, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), content)
	if err == nil && nameOf(sum) != to.Hash {
		err = errDamaged
	}
	return errors.Join(err, f.Chmod(to.Perm()), f.Close())
}

// replace calls create with a temporary name, and renames the result to path.
func (r *Restorer) replace(path string, create func(dir *workspace.Dir, temp string) error) error {
	return r.inParent(path, func(dir *workspace.Dir, name string) error {
		return dir.ReplaceNew(name, r.temporary(path), func(temp string) error { return create(dir, temp) })
	})
}

// temporary returns the name of a file while it is written. A killed process leaves it.
func (r *Restorer) temporary(path string) string {
	return ".zeph-rewind-" + Hash([]byte(r.ID + path))[:32]
}

// RemoveTemporary removes the temporary file of a path that a killed process has left.
func (r *Restorer) RemoveTemporary(path string) {
	_ = r.inParent(filepath.Join(filepath.Dir(path), r.temporary(path)),
		func(dir *workspace.Dir, name string) error { return dir.Remove(name) })
}

// IsText reports whether an editor can hold the content.
func IsText(data []byte) bool { return utf8.Valid(data) && !slices.Contains(data, 0) }
