package files

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type listInput struct {
	Path string `json:"path,omitempty"`
}

func (t *tools) prepareList(_ context.Context, _ *executors.Call, in *listInput) (executors.Card, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return refusedCard(executors.KindRead, in.Path), err
	}
	return executors.Card{Title: tg.directoryTitle(), Kind: executors.KindRead, Paths: []string{tg.abs}}, nil
}

// list names the entries of a directory: directories, files, symlinks, others.
func (t *tools) list(ctx context.Context, _ *executors.Call, in *listInput) (executors.Result, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return fail(ctx, err)
	}
	info, err := t.roots.Lstat(tg.abs)
	if err != nil {
		return fail(ctx, t.explain(err, "list", tg))
	}
	if !info.IsDir() {
		return fail(ctx, executors.Failuref(executors.PermanentFailure, "%s is not a directory", tg.display).
			Hint("Use read for files."))
	}
	valid := t.unchanged(in.Path, tg)
	dir, err := t.roots.Dir(tg.abs)
	if err != nil {
		return fail(ctx, t.explain(err, "list", tg))
	}
	defer dir.Close()
	entries, hidden, err := dir.ReadDir(-1)
	if err != nil {
		return fail(ctx, t.explain(err, "list", tg))
	}
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	text, shown := listing(tg.display, entries, t.cfg.MaxEntries, t.cfg.pageChars())
	if hidden {
		text += "\n" + walk.HiddenNote
	}
	text += walk.DeniedNote(dir.Denied())
	raw, locations := summarize(tg, entries, shown)
	return executors.Result{Text: text, Valid: valid, Raw: raw, Locations: locations}, nil
}

// summarize counts the entries by their kind, and locates the files among the first ones, which
// are shown.
func summarize(tg target, entries []fs.DirEntry, shown int) (rawListing, []executors.Location) {
	var counts [len(groups)]int
	var files matchPlaces
	for i, e := range entries {
		counts[entryGroup(e.Type())]++
		if e.Type().IsRegular() && i < shown {
			files.add(tg.below(e.Name()), 0)
		}
	}
	return rawListing{
		Path: tg.client, Directories: counts[0], Files: counts[1], Symlinks: counts[2], Other: counts[3],
		More: len(entries) > shown,
	}, files.locations
}

// directory is target, with the cwd for an empty path.
func (t *tools) directory(path string) (target, error) {
	if path == "" {
		path = "."
	}
	return t.target(path)
}

// groups are the kinds of entries in the order in which they are listed.
var groups = [...]string{"[dir]  ", "[file] ", "[symlink] ", "[other] "}

func entryGroup(mode fs.FileMode) int {
	switch {
	case mode.IsDir():
		return 0
	case mode.IsRegular():
		return 1
	case mode&fs.ModeSymlink != 0:
		return 2
	}
	return 3
}

// listing returns one line for each of the first entries, and a note about the rest. shown is the
// number of lines: at most maxEntries, with at most room characters, but one in any case.
func listing(name string, entries []fs.DirEntry, maxEntries, room int) (text string, shown int) {
	if len(entries) == 0 {
		return "Empty directory: " + name, 0
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Or(entryGroup(a.Type())-entryGroup(b.Type()), strings.Compare(a.Name(), b.Name()))
	})
	var b strings.Builder
	for _, e := range entries[:min(len(entries), maxEntries)] {
		line := groups[entryGroup(e.Type())] + executors.OneLine(e.Name()) + "\n"
		if room -= utf8.RuneCountInString(line); room < 0 && shown > 0 {
			break
		}
		b.WriteString(line)
		shown++
	}
	if len(entries) > shown {
		fmt.Fprintf(&b, "[the first %d of %s; find_path with a pattern shows others]\n", shown, quantity.Count(len(entries), "entry"))
	}
	return strings.TrimSuffix(b.String(), "\n"), shown
}
