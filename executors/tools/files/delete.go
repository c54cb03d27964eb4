package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type deleteInput struct {
	Path string `json:"path"`
}

// maxShownEntries bounds the entries that are counted before the user is asked.
const maxShownEntries = 20_000

// planDelete counts the entries that would be deleted, at most maxEntries. It accepts
// files that the rules for reading refuse, since their content is not shown.
func (t *tools) planDelete(ctx context.Context, in *deleteInput, maxEntries int) (tg target, c census, err error) {
	roots := t.roots.Writing()
	if tg, err = t.resolveEntry("path", in.Path, roots); err != nil {
		return tg, c, err
	}
	if err = t.checkFixed(tg, "deleted"); err != nil {
		return tg, c, err
	}
	info, err := roots.Lstat(tg.abs)
	if err != nil {
		return tg, c, t.explain(err, "delete", tg)
	}
	c.mode = info.Mode()
	if err := c.countTree(ctx, roots, tg, maxEntries); err != nil {
		return tg, c, t.explain(err, "look at what is in", tg)
	}
	if c.hidden {
		return tg, c, t.ownFilesFailure(tg, "deleted")
	}
	return tg, c, nil
}

func (t *tools) prepareDelete(ctx context.Context, _ *executors.Call, in *deleteInput) (executors.Card, error) {
	tg, c, err := t.planDelete(ctx, in, maxShownEntries)
	if tg.abs == "" {
		return refusedCard(executors.KindDelete, in.Path), err
	}
	card := executors.Card{Title: tg.title(), Kind: executors.KindDelete, Paths: []string{tg.abs}, NoFollow: true}
	if ctx.Err() != nil {
		return card, context.Cause(ctx)
	}
	if err != nil {
		return card, err
	}
	extent := c.String()
	switch {
	case c.dirs > 0:
		card.Title += " and everything in it"
	case c.mode&fs.ModeSymlink != 0:
		extent = "a symlink"
	}
	card.Title += " (" + extent + ")"
	if !c.mode.IsDir() { // a client opens the locations
		card.Locations = []executors.Location{{Path: tg.client}}
	}
	card.Asked = "This deletes " + c.list()
	card.Changes = []filechange.Change{{Op: filechange.Delete, Path: tg.client, Type: typeOfMode(c.mode)}}
	return card, nil
}

// deletion returns the deletion of an entry as a change of files. It has the text of a small file that may be read.
func (t *tools) deletion(tg target, mode fs.FileMode, dir *workspace.Dir, name string) filechange.Change {
	made := filechange.Change{Op: filechange.Delete, Path: tg.client, Type: typeOfMode(mode)}
	if _, refuses := t.roots.Readable().Refuses(tg.abs); refuses || !mode.IsRegular() {
		return made
	}
	f, info, err := dir.Open(name, os.O_RDONLY)
	if err != nil {
		return made
	}
	defer f.Close()
	if info.Size() > maxDiff {
		return made
	}
	data, err := io.ReadAll(io.LimitReader(f, maxDiff+1))
	text := string(data)
	if made.Type = typeOf(text); err == nil && made.Type == "" && jsonSize(text) <= maxDiff {
		made.Old = &text
	}
	return made
}

func (t *tools) delete(ctx context.Context, call *executors.Call, in *deleteInput) (executors.Result, error) {
	tg, all, err := t.planDelete(ctx, in, math.MaxInt)
	if err == nil {
		err = sameAsCard(call, tg)
	}
	if err != nil {
		return fail(ctx, err)
	}
	dir, name, err := t.roots.Writing().Parent(tg.abs)
	if err != nil {
		return fail(ctx, t.explain(err, "delete", tg))
	}
	defer dir.Close()
	made := t.deletion(tg, all.mode, dir, name)
	gone, err := remove(ctx, dir, name)
	if err != nil && ctx.Err() == nil && gone > 0 {
		return executors.Failuref(executors.PermanentFailure, "delete %s: %v (%s already deleted)", tg.display,
			workspace.Cause(err), quantity.Count(gone, "entry")).
			Hint("Use list_directory to see the remaining entries.").Result(), nil
	}
	if err != nil {
		return fail(ctx, t.explain(err, "delete", tg))
	}
	return executors.Result{Text: fmt.Sprintf("Deleted: %s (%s)", tg.display, &all), Raw: rawDeleted{
		Path: tg.client, Files: all.files, Directories: all.dirs, Bytes: all.bytes,
	}, Content: []executors.Content{{Change: &made}}}, nil
}

// remove removes name in dir with everything in it, but never the target of a
// symlink. It returns how many entries it removed.
func remove(ctx context.Context, dir *workspace.Dir, name string) (gone int, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	info, err := dir.Lstat(name)
	if err == nil && info.IsDir() {
		gone, err = removeAll(ctx, dir, name)
	}
	if err == nil {
		err = dir.Remove(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // another process was faster
		return gone, nil
	case err != nil:
		return gone, err
	}
	return gone + 1, nil
}

// removeAll removes the contents of the directory name.
func removeAll(ctx context.Context, dir *workspace.Dir, name string) (gone int, err error) {
	sub, err := dir.Sub(name)
	if err != nil {
		return 0, err
	}
	defer sub.Close()
	entries, _, err := sub.ReadDir(-1)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		n, err := remove(ctx, sub, e.Name())
		gone += n
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}
