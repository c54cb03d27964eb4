package copies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Limits on the changes that are brought back.
const (
	maxChanges = 1000
	maxFile    = 10 << 20 // bytes
	maxTotal   = 64 << 20 // bytes, of both sides
)

// Change is a change of one file.
type Change struct {
	Path       string  // relative to the top directory, with slashes
	Old, New   *string // nil means that there was, or is, no file
	Unwritable string  // why it cannot be written by a call; empty if it can be
	Note       string  // a part of it that is not written; empty if there is no such part

	from, to undo.State
	aside    bool // no patch holds it
}

// changes returns the changes since the copy was made. Ignored files do not count, unless they were copied.
func (c *Copy) changes(ctx context.Context) ([]Change, error) {
	now, err := c.present(ctx)
	if err != nil {
		return nil, err
	}
	var all []Change
	room := int64(maxTotal)
	for _, path := range c.changed(now) {
		from, to := c.base.Files[path].State, now[path].State
		if from.IsDir() {
			from = undo.State{}
		}
		if to.IsDir() {
			to = undo.State{}
		}
		special := to.Exists() && to.Mode&(fs.ModeType&^fs.ModeSymlink) != 0
		if !from.Exists() && (!to.Exists() || special) { // git does not see directories, pipes and sockets
			continue
		}
		rel, err := filepath.Rel(c.Root, path)
		if err != nil {
			return nil, err
		}
		ch := Change{Path: filepath.ToSlash(rel), from: from, to: to}
		if c.examine(&ch, len(all), &room); ch.Unwritable == "" {
			c.setTexts(&ch)
		}
		all = append(all, ch)
	}
	return all, nil
}

// changed returns the paths whose states differ now. A file that was too large to keep differs by its stamps.
func (c *Copy) changed(now undo.Index) []string {
	paths := c.base.Files.Changes(now)
	for path, was := range c.base.Files {
		if e, ok := now[path]; ok && was.NotKept != "" && !was.Differs(e.State) && (was.Changed != e.Changed || was.Stamped != e.Stamped) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// present returns the state of the copy, and keeps the contents that have changed.
func (c *Copy) present(ctx context.Context) (undo.Index, error) {
	if !c.exists() {
		return nil, executors.Failuref(executors.PermanentFailure, "the copy of the project at %s no longer exists", c.Root)
	}
	survey, err := c.survey(true)
	if err != nil {
		return nil, err
	}
	now, err := survey.Run(ctx, []string{c.Root}, c.base.Files)
	if err != nil {
		return nil, err
	}
	var unseen []string // which ignore files exclude, or which are gone
	for path, e := range c.base.Files {
		if _, ok := now[path]; !ok && !e.IsDir() {
			unseen = append(unseen, path)
		}
	}
	found, err := survey.Run(ctx, unseen, c.base.Files)
	for _, path := range unseen {
		if e, ok := found[path]; ok {
			now[path] = e
		}
	}
	return now, err
}

// survey returns a survey of the copy.
func (c *Copy) survey(ignore bool) (s undo.Survey, err error) {
	roots, err := workspace.New(c.Root)
	return undo.Survey{Roots: roots, Limits: c.options.Limits, Store: c.store, Ignore: ignore, Exact: true}, err
}

// examine says what cannot be brought back of a change, given the number of changes before it and the bytes
// that may still be brought back.
func (c *Copy) examine(ch *Change, before int, room *int64) {
	from, to := ch.from, ch.to
	separate := c.separate(ch.Path)
	size := from.Size + to.Size
	large := max(from.Size, to.Size) > maxFile || size > *room
	link := from.Mode&fs.ModeSymlink != 0 || to.Mode&fs.ModeSymlink != 0
	switch {
	case before >= maxChanges:
		ch.Unwritable = "there are too many changes"
	case !utf8.ValidString(ch.Path):
		ch.Unwritable = "its name is not UTF-8"
	case link:
		ch.Unwritable = "it is a symbolic link"
	case large:
		ch.Unwritable = "it is too large"
	case to.Exists() && !to.IsFile():
		ch.Unwritable = "it is not a regular file"
	case from.NotKept != "" || to.NotKept != "":
		ch.Unwritable = cmp.Or(to.NotKept, from.NotKept)
	case separate:
		ch.Unwritable = "git cannot store it in this repository"
	case executable(to) && !executable(from):
		ch.Note = "is executable in the copy only"
	case executable(from) && to.Exists() && !executable(to):
		ch.Note = "is no longer executable in the copy only"
	}
	ch.aside = to.Exists() && (from.NotKept != "" || to.NotKept != "" || separate && (link || large || before >= maxChanges))
	if ch.Unwritable == "" {
		*room -= size
	}
}

func executable(s undo.State) bool { return s.IsFile() && s.Perm()&0o100 != 0 }

// separate reports whether git cannot store a file of the copy: it lies in the directory of a submodule, or in a
// repository that the sub-agent made, or git reserves its name.
func (c *Copy) separate(path string) bool {
	if (&workspace.Roots{}).InGit(path) {
		return true
	}
	for dir := filepath.Dir(filepath.FromSlash(path)); dir != "."; dir = filepath.Dir(dir) {
		if slices.Contains(c.base.Modules, filepath.ToSlash(dir)) || exists(filepath.Join(c.Root, dir, ".git")) {
			return true
		}
	}
	return false
}

// setTexts sets the old and the new content.
func (c *Copy) setTexts(ch *Change) {
	for _, side := range []struct {
		state undo.State
		text  **string
	}{{ch.from, &ch.Old}, {ch.to, &ch.New}} {
		if !side.state.Exists() {
			continue
		}
		data, err := undo.Read(c.store, side.state.Hash)
		switch {
		case err != nil:
			ch.Unwritable = err.Error()
		case !undo.IsText(data):
			ch.Unwritable = "it is not a text"
		default:
			*side.text = new(string(data))
		}
	}
}

// Kept are the paths under which changes are kept for the user. A path is empty if there
// are no such changes.
type Kept struct {
	Patch string // a file for git apply
	Files string // a directory with the files that no patch holds, or with the whole copy
}

// Keep stores the changes of some files, all if there are no paths. Files that no patch
// holds are moved out of the copy. If the changes cannot be computed, the whole copy is.
func (c *Copy) Keep(ctx context.Context, paths []string) (k Kept, err error) {
	all, err := c.changes(ctx)
	var aside []string
	if err != nil && paths == nil && ctx.Err() == nil && c.exists() {
		aside = []string{"."}
	}
	all = slices.DeleteFunc(all, func(ch Change) bool { return paths != nil && !slices.Contains(paths, ch.Path) })
	for _, ch := range all {
		if ch.aside {
			aside = append(aside, ch.Path)
		}
	}
	if len(aside) > 0 {
		var moved error
		k.Files, moved = c.setAside(aside)
		err = errors.Join(err, moved)
	}
	if err != nil {
		return k, err
	}
	all = slices.DeleteFunc(all, func(ch Change) bool { return ch.aside || ch.from.NotKept != "" })
	patch, err := c.patch(ctx, all)
	if err != nil || len(patch) == 0 {
		return k, err
	}
	k.Patch = filepath.Join(c.options.State, c.options.Name+"-"+c.id+patchEnd)
	return k, os.WriteFile(k.Patch, patch, 0o600)
}

// patch returns the changes for git apply. Both sides of them are laid out next to each other, in directories
// whose names are the prefixes in a patch.
func (c *Copy) patch(ctx context.Context, changes []Change) ([]byte, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp(c.Meta, "patch-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o700), os.Mkdir(filepath.Join(dir, "b"), 0o700)); err != nil {
		return nil, err
	}
	var steps []undo.Step
	for _, ch := range changes {
		for side, state := range map[string]undo.State{"a": ch.from, "b": ch.to} {
			path := filepath.Join(dir, side, filepath.FromSlash(ch.Path))
			if !state.Exists() {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return nil, err
			}
			state.Mode |= 0o400 // git reads it
			steps = append(steps, undo.Step{Path: path, To: state})
		}
	}
	roots, err := workspace.New(dir)
	if err != nil {
		return nil, err
	}
	restorer := undo.Restorer{Roots: roots, Store: c.store, ID: c.id}
	for path, err := range restorer.Restore(ctx, steps) {
		return nil, fmt.Errorf("%s: %w", roots.Rel(path), err)
	}
	repository := filepath.Join(dir, ".git")
	if err := c.initRaw(ctx, repository, dir); err != nil {
		return nil, err
	}
	patch, err := c.git.runAt(ctx, inRepository(repository, dir), nil, "diff", "--no-index", "--no-prefix", "--binary", "--full-index",
		"--no-renames", "--no-ext-diff", "--no-textconv", "--", "a", "b")
	if program.ExitedWith(err, exitFilesDiffer) {
		err = nil
	}
	return patch, err
}

// exitFilesDiffer is the exit status of git diff --no-index if the files differ.
const exitFilesDiffer = 1

// setAside moves files out of the copy, and returns the directory that has them. Directories of the copy may
// have become links to other places, which os.Root does not follow.
func (c *Copy) setAside(paths []string) (string, error) {
	root, err := os.OpenRoot(c.options.State)
	if err != nil {
		return "", err
	}
	defer root.Close()
	from, err := filepath.Rel(c.options.State, c.Root)
	if err != nil {
		return "", err
	}
	to := c.options.Name + "-" + c.id + filesEnd
	for _, path := range paths {
		name := filepath.Join(to, filepath.FromSlash(path))
		e := root.MkdirAll(filepath.Dir(name), 0o700)
		if e == nil {
			e = undo.IgnoreMissing(root.Rename(filepath.Join(from, filepath.FromSlash(path)), name))
		}
		err = errors.Join(err, e)
	}
	return filepath.Join(c.options.State, to), err
}

// merge returns a text with the changes from base to each of two others. ok is false if
// both changed the same lines.
func (c *Copy) merge(ctx context.Context, ours, base, theirs string) (text string, ok bool, err error) {
	dir, err := os.MkdirTemp(c.Meta, "merge-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{"ours": ours, "base": base, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return "", false, err
		}
	}
	out, err := c.git.run(ctx, dir, "merge-file", "-p", "-q", "ours", "base", "theirs")
	if _, ok := errors.AsType[*program.ExitError](err); ok { // the number of conflicts, or a text that git cannot merge
		return "", false, nil
	}
	return string(out), err == nil, err
}
