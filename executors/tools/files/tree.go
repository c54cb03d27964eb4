package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// resolveEntry resolves a parameter to an entry: a symlink stands for itself.
func (t *tools) resolveEntry(parameter, path string, roots *workspace.Roots) (target, error) {
	return t.resolveTarget(parameter, path, roots.ResolveEntry)
}

// checkFixed refuses entries that must stay in place: the session's
// directories, the directories above them, and .git. verb is the intended
// action, in messages.
func (t *tools) checkFixed(tg target, verb string) error {
	if t.roots.ContainsRoot(tg.abs) {
		return executors.Failuref(executors.PolicyBlocked, "%s is or contains a directory of the session and can't be %s",
			tg.display, verb).
			Hint("Name the entries in it one by one.")
	}
	if t.roots.InGit(tg.abs) {
		return executors.Failuref(executors.PolicyBlocked, "%s belongs to git and can't be %s", tg.display, verb).
			Hint("Use git for it, or ask the user.")
	}
	if len(t.roots.Hidden().Below(tg.abs)) > 0 {
		return t.ownFilesFailure(tg, verb)
	}
	return nil
}

func (t *tools) ownFilesFailure(tg target, verb string) error {
	return executors.Failuref(executors.PolicyBlocked, "%s contains zeph-acp's own files and can't be %s", tg.display, verb).
		Hint("Name the other entries in it one by one.")
}

// census counts an entry and everything below it.
type census struct {
	files, dirs int // files are all entries but directories
	bytes       int64
	room        int         // entries that may still be counted
	incomplete  bool        // there are more entries
	hidden      bool        // zeph-acp's own files are there
	denied      int         // entries that may not be read
	mode        fs.FileMode // of the entry itself, where the caller knows it
	names       []string    // the first maxListed entries, as messages name them; directories end in a slash
}

// maxListed bounds the names in a census.
const maxListed = 20

// countEntry adds name in dir, which messages name shown. An entry that vanishes during the count is skipped.
func (c *census) countEntry(ctx context.Context, dir *workspace.Dir, name, shown string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.room--; c.room < 0 {
		c.incomplete = true
		return fs.SkipAll
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return c.skip(err)
	}
	if info.IsDir() {
		shown += "/"
	}
	if len(c.names) < maxListed {
		c.names = append(c.names, shown)
	}
	if !info.IsDir() {
		c.files++
		c.bytes += info.Size()
		return nil
	}
	c.dirs++
	return c.countBelow(ctx, dir, name, shown)
}

// countBelow counts the entries of the directory name in dir, which messages name shown.
func (c *census) countBelow(ctx context.Context, dir *workspace.Dir, name, shown string) error {
	sub, err := dir.Sub(name)
	if err != nil {
		return c.skip(err)
	}
	defer sub.Close()
	entries, hidden, err := sub.ReadDir(-1)
	if err != nil {
		return err
	}
	c.hidden, c.denied = c.hidden || hidden, c.denied+sub.Denied()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if err := c.countEntry(ctx, sub, e.Name(), shown+executors.OneLine(e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// skip records an error that does not end the census; it returns any other.
func (c *census) skip(err error) error {
	if _, ok := errors.AsType[*workspace.AgentFileError](err); ok {
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

// countTree counts the entry at tg and those below it, at most maxEntries.
func (c *census) countTree(ctx context.Context, roots *workspace.Roots, tg target, maxEntries int) error {
	dir, name, err := roots.Parent(tg.abs)
	if err != nil {
		return err
	}
	defer dir.Close()
	c.room = maxEntries
	if err := c.countEntry(ctx, dir, name, tg.display); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// String returns the numbers, such as "3 files, 120 bytes".
func (c *census) String() string {
	var parts []string
	if c.incomplete {
		parts = append(parts, "more than")
	}
	parts = append(parts, quantity.Count(c.files, "file")+",")
	if c.files == 0 && c.dirs > 1 {
		parts = append(parts, quantity.Count(c.dirs, "directory")+",")
	}
	size := quantity.Count(c.bytes, "byte")
	if c.bytes >= 1000 {
		size = quantity.Bytes(c.bytes)
	}
	return strings.Join(append(parts, size), " ")
}

// list returns the counted entries as Markdown: what they are in all, and the first names.
func (c *census) list() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n", c)
	for _, name := range c.names {
		fmt.Fprintf(&b, "\n- %s", executors.Quoted(name))
	}
	if more := c.files + c.dirs - len(c.names); more > 0 {
		fmt.Fprintf(&b, "\n- and %s", quantity.Count(more, "more entry"))
	}
	return b.String()
}
