package files

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// entry resolves a parameter to an entry: a symlink stands for itself.
func (t *tools) entry(parameter, path string, roots *workspace.Roots) (target, error) {
	return t.resolved(parameter, path, roots.ResolveEntry)
}

// checkFixed refuses entries that must stay in place: the session's
// directories, the directories above them, and .git. verb is the intended
// action, in messages.
func (t *tools) checkFixed(tg target, verb string) error {
	if t.roots.Holds(tg.abs) {
		return executors.Failuref(executors.PolicyBlocked, "%s is or contains a directory of the session and can't be %s", tg.show, verb).
			Hint("Name the entries in it one by one.")
	}
	if t.roots.InGit(tg.abs) {
		return executors.Failuref(executors.PolicyBlocked, "%s belongs to git and can't be %s", tg.show, verb).
			Hint("Use git for it, or ask the user.")
	}
	if len(t.roots.Private().Below(tg.abs)) > 0 {
		return t.holdsOwn(tg, verb)
	}
	return nil
}

func (t *tools) holdsOwn(tg target, verb string) error {
	return executors.Failuref(executors.PolicyBlocked, "%s contains zeph-acp's own files and can't be %s", tg.show, verb).
		Hint("Name the other entries in it one by one.")
}

// census counts an entry and everything below it.
type census struct {
	files, dirs int // files are all entries but directories
	bytes       int64
	room        int  // entries that may still be counted
	cut         bool // there are more entries
	hidden      bool // zeph-acp's own files are there
	denied      int  // entries that may not be read
}

// count adds name in dir. An entry that vanishes during the count is skipped.
func (c *census) count(ctx context.Context, dir *workspace.Dir, name string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.room--; c.room < 0 {
		c.cut = true
		return fs.SkipAll
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return c.skipped(err)
	}
	if !info.IsDir() {
		c.files++
		c.bytes += info.Size()
		return nil
	}
	c.dirs++
	return c.below(ctx, dir, name)
}

func (c *census) below(ctx context.Context, dir *workspace.Dir, name string) error {
	sub, err := dir.Sub(name)
	if err != nil {
		return c.skipped(err)
	}
	defer sub.Close()
	entries, hidden, err := sub.ReadDir(-1)
	if err != nil {
		return err
	}
	c.hidden, c.denied = c.hidden || hidden, c.denied+sub.Denied()
	for _, e := range entries {
		if err := c.count(ctx, sub, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// skipped records an error that does not end the census; it returns any other.
func (c *census) skipped(err error) error {
	if _, ok := errors.AsType[*workspace.PrivateError](err); ok {
		c.hidden = true
		return nil
	}
	if _, ok := errors.AsType[*workspace.DeniedError](err); ok {
		c.denied++
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// take counts the entry at tg and those below it, at most room.
func (c *census) take(ctx context.Context, roots *workspace.Roots, tg target, room int) error {
	dir, name, err := roots.Parent(tg.abs)
	if err != nil {
		return err
	}
	defer dir.Close()
	c.room = room
	if err := c.count(ctx, dir, name); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// String returns the numbers, such as "3 files, 120 bytes".
func (c *census) String() string {
	var parts []string
	if c.cut {
		parts = append(parts, "more than")
	}
	parts = append(parts, executors.Count(c.files, "file")+",")
	if c.files == 0 && c.dirs > 1 {
		parts = append(parts, executors.Count(c.dirs, "directory")+",")
	}
	return strings.Join(append(parts, executors.Count(int(c.bytes), "byte")), " ")
}
