package files

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

func (t *tools) planCopy(in *relocateInput) (relocation, error) {
	r, err := t.planRelocation(in, t.roots, filechange.Copy)
	if err != nil {
		return r, err
	}
	if mode := r.info.Mode(); !mode.IsRegular() && !mode.IsDir() && mode&fs.ModeSymlink == 0 {
		return r, executors.Failuref(executors.PermanentFailure, "%s is %s and can't be copied", r.from.display, workspace.Describe(mode))
	}
	src, name, err := t.roots.Parent(r.from.abs)
	if err != nil {
		return r, t.explain(err, "copy", r.from)
	}
	defer src.Close()
	if !r.info.IsDir() {
		_, err = src.Lstat(name)
	} else if dir, wrong := src.Sub(name); wrong != nil {
		err = wrong
	} else {
		dir.Close()
	}
	if err != nil { // else the user would be asked about a copy that is then refused
		return r, t.explain(err, "copy", r.from)
	}
	return r, nil
}

func (t *tools) prepareCopy(_ context.Context, _ *executors.Call, in *relocateInput) (executors.Card, error) {
	r, err := t.planCopy(in)
	card := r.card("copy ", executors.KindEdit, in, err)
	card.Source = r.from.abs
	return card, err
}

func (t *tools) copy(ctx context.Context, call *executors.Call, in *relocateInput) (executors.Result, error) {
	r, err := t.planCopy(in)
	if err := checkRelocation(ctx, call, r, err); err != nil {
		return fail(ctx, err)
	}
	c := t.newCopier(r)
	if err := t.copyTo(ctx, c); err != nil {
		return fail(ctx, err)
	}
	return r.result(fmt.Sprintf("Copied: %s -> %s (%s)%s", r.from.display, r.to.display, &c.census, c.notes())), nil
}

// copier copies one file or directory tree.
type copier struct {
	tools *tools
	relocation
	forMove bool // for a move: copy every entry, and sync all to the disk before the source is deleted

	census  // of the copied entries
	entries int
	temp    fs.FileInfo // the directory under construction, which the source may contain
	omitted []omission
}

// omission counts the entries that were skipped for one reason.
type omission struct {
	reason string
	first  string
	count  int
}

func (t *tools) newCopier(r relocation) *copier { return &copier{tools: t, relocation: r} }

// copyTo copies to a temporary name next to the destination, then renames the copy.
// So a copy that fails or is cancelled leaves nothing.
func (t *tools) copyTo(ctx context.Context, c *copier) error {
	src, name, err := t.roots.Parent(c.from.abs)
	if err != nil {
		return t.explain(err, "copy", c.from)
	}
	defer src.Close()
	stage, err := t.openStaging(c.to)
	if err != nil {
		return t.explain(err, "copy to", c.to)
	}
	defer stage.Close()
	temp := ".zeph-" + rand.Text() + ".tmp"
	err = c.entry(ctx, place{src, name}, place{stage, temp}, "")
	if err == nil && c.forMove && (len(c.omitted) > 0 || c.denied > 0 || c.hidden) {
		err = executors.Failuref(executors.PermanentFailure, "%s can't be moved to another device completely:%s",
			c.from.display, strings.ReplaceAll(c.notes(), "\n", " "))
	}
	if err == nil && c.files+c.dirs == 0 {
		err = executors.Failuref(executors.PolicyBlocked, "no part of %s can be copied:%s", c.from.display,
			strings.ReplaceAll(c.notes(), "\n", " "))
	}
	if err == nil {
		if err = t.renameTo(stage, temp, c.to); err == nil {
			return nil
		}
		err = t.explainRename(err, "copy to", c.relocation)
	}
	_, _ = remove(context.WithoutCancel(ctx), stage, temp) // it may not exist yet
	return t.explain(err, "copy", c.from)
}

// place is an entry of a directory.
type place struct {
	dir  *workspace.Dir
	name string
}

// entry copies an entry to a new one. rel is its path below the source, for messages.
func (c *copier) entry(ctx context.Context, src, dst place, rel string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := src.dir.Lstat(src.name)
	if err != nil {
		if err := c.skip(err); err != nil {
			return c.withPath(err, rel)
		}
		return nil
	}
	if sameEntry(info, c.temp) {
		return nil
	}
	if c.entries++; c.entries > c.tools.cfg.MaxCopyEntries {
		return executors.Failuref(executors.PermanentFailure, "%s has more than %s, the limit of max_copy_entries",
			c.from.display, quantity.Count(c.tools.cfg.MaxCopyEntries, "entry")).
			Hint("Copy parts of it, or ask the user.")
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		err = c.directory(ctx, src, dst, rel)
	case mode.IsRegular():
		err = c.file(ctx, src, dst)
	case mode&fs.ModeSymlink != 0:
		err = c.link(src, dst, rel)
	default:
		c.omit("no file or directory", rel)
	}
	return c.withPath(err, rel)
}

// withPath adds the path below the source to an error.
func (c *copier) withPath(err error, rel string) error {
	if _, ok := err.(*executors.Failure); ok || err == nil || rel == "" {
		return err
	}
	if refused(err) != nil {
		return err
	}
	return fmt.Errorf("%s: %w", executors.OneLine(rel), workspace.Cause(err))
}

// directory copies a directory with its entries.
func (c *copier) directory(ctx context.Context, src, dst place, rel string) error {
	from, err := src.dir.Sub(src.name)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := dst.dir.Mkdir(dst.name, 0o700); err != nil {
		return err
	}
	to, err := dst.dir.Sub(dst.name)
	if err != nil {
		return err
	}
	defer to.Close()
	if c.temp == nil {
		if c.temp, err = dst.dir.Lstat(dst.name); err != nil {
			return err
		}
	}
	info, err := from.Lstat(".")
	if err != nil {
		return err
	}
	entries, hidden, err := from.ReadDir(-1)
	if err != nil {
		return err
	}
	c.dirs++
	c.hidden, c.denied = c.hidden || hidden, c.denied+from.Denied()
	for _, e := range entries {
		if err := c.entry(ctx, place{from, e.Name()}, place{to, e.Name()}, path.Join(rel, e.Name())); err != nil {
			return err
		}
	}
	return dst.dir.Chmod(dst.name, info.Mode().Perm()) // last, since it may forbid writing
}

// chunk is how many bytes are copied before the context is checked again.
const chunk = 16 << 20

// file copies a regular file with its mode.
func (c *copier) file(ctx context.Context, src, dst place) error {
	from, info, err := src.dir.Open(src.name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.dir.Create(dst.name, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := io.CopyN(to, from, chunk) // in the kernel, if it can
		if c.bytes += n; c.bytes > int64(c.tools.cfg.MaxCopyBytes) {
			return executors.Failuref(executors.PermanentFailure, "%s has more than %s, the limit of max_copy_bytes",
				c.from.display, quantity.Count(c.tools.cfg.MaxCopyBytes, "byte")).
				Hint("Copy parts of it, or ask the user.")
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := to.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if c.forMove || c.dirs == 0 {
		if err := to.Sync(); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
	}
	c.files++
	return to.Close()
}

// link copies a symlink unchanged, if its target is in the session's
// directories from both the old and the new place.
func (c *copier) link(src, dst place, rel string) error {
	to, err := src.dir.Readlink(src.name)
	if err != nil {
		return err
	}
	if !c.forMove && (!c.staysInside(filepath.Join(c.from.abs, rel), to) || !c.staysInside(filepath.Join(c.to.abs, rel), to)) {
		c.omit("symlinks that lead outside", rel)
		return nil
	}
	if err := dst.dir.Symlink(to, dst.name); err != nil {
		return err
	}
	c.files++
	return nil
}

// staysInside reports whether a symlink at path at, with target to, leads to a file that
// may be used.
func (c *copier) staysInside(at, to string) bool {
	if !filepath.IsAbs(to) {
		to = filepath.Dir(at) + string(filepath.Separator) + to // not cleaned: the meaning of ".." depends on links
	}
	return c.tools.roots.LeadsInside(to)
}

// omit records an entry that was skipped.
func (c *copier) omit(why, rel string) {
	if rel == "" {
		rel = filepath.Base(c.from.abs)
	}
	for i := range c.omitted {
		if c.omitted[i].reason == why {
			c.omitted[i].count++
			return
		}
	}
	c.omitted = append(c.omitted, omission{reason: why, first: rel, count: 1})
}

// notes returns a line for each reason with the entries that were skipped.
func (c *copier) notes() string {
	var b strings.Builder
	for _, l := range c.omitted {
		fmt.Fprintf(&b, "\n[left out: %s", executors.OneLine(l.first))
		if l.count > 1 {
			fmt.Fprintf(&b, " and %d more", l.count-1)
		}
		fmt.Fprintf(&b, ", %s]", l.reason)
	}
	b.WriteString(walk.DeniedNote(c.denied))
	if c.hidden {
		b.WriteString("\n" + walk.HiddenNote)
	}
	return b.String()
}
