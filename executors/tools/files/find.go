package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type findInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`

	IncludeIgnored bool `json:"include_ignored,omitempty"`
}

// findPlan is the start of a find_path and the pattern that it searches for.
type findPlan struct {
	target
	pattern string // against paths relative to the target
	implied bool   // the start comes from the pattern, so it need not exist
}

func (t *tools) prepareFind(_ context.Context, _ *executors.Call, in *findInput) (executors.Card, error) {
	s, err := t.planFind(in)
	if s.abs == "" {
		return refusedCard(executors.KindSearch, in.Pattern), err
	}
	title := titled(in.Pattern)
	if dir, dirErr := t.directory(in.Path); dirErr == nil {
		title = searchTitle(in.Pattern, dir)
	}
	return executors.Card{Title: title, Kind: executors.KindSearch, Paths: []string{s.abs}}, err
}

// searchTitle returns the title of a search in a directory or file.
func searchTitle(query string, tg target) string {
	if tg.display == "." {
		return titled(query)
	}
	return titled(query) + " in " + tg.title()
}

// planFind moves the literal leading directories of the pattern into the start of the
// search. So a directory that the pattern names is searched even if it is ignored.
func (t *tools) planFind(in *findInput) (findPlan, error) {
	dir := in.Path
	if dir == "" {
		dir = "."
	}
	pattern := strings.TrimSuffix(in.Pattern, "/")
	pattern, fromHome := strings.CutPrefix(pattern, "~/")
	switch {
	case fromHome:
		dir = "~"
	case filepath.IsAbs(pattern):
		dir = filepath.VolumeName(pattern) + string(filepath.Separator)
		pattern = strings.TrimPrefix(filepath.ToSlash(pattern[len(filepath.VolumeName(pattern)):]), "/")
	case !strings.Contains(strings.TrimPrefix(pattern, "./"), "/") && !strings.HasPrefix(pattern, "./"):
		pattern = "**/" + pattern
	}
	if err := checkPattern(in.Pattern, pattern); err != nil {
		return findPlan{}, err
	}
	base, pattern := doublestar.SplitPattern(path.Clean(pattern))
	tg, err := t.target(filepath.Join(dir, filepath.FromSlash(pathname.Unescape(base))))
	return findPlan{target: tg, pattern: pattern, implied: base != "."}, err
}

// Limits on a glob: it costs time for each combination of its braces.
const (
	maxPattern = 4096
	maxBraces  = 8
)

// checkPattern refuses a pattern that can match nothing. in is the pattern as the
// model wrote it.
func checkPattern(in, pattern string) error {
	switch {
	case len(in) > maxPattern || strings.Count(in, "{") > maxBraces:
		return executors.Failuref(executors.InvalidParameters, "the pattern is too large: at most %d bytes and %d braces",
			maxPattern, maxBraces)
	case strings.Trim(in, "/") == "":
		return executors.Failuref(executors.InvalidParameters, "the pattern is empty").
			Hint("Use a glob such as *.go or src/**/*.ts.")
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		return executors.Failuref(executors.InvalidParameters, "the pattern %q contains ..", in).
			Hint("Set path to the start directory instead.")
	case !doublestar.ValidatePattern(pattern):
		return executors.Failuref(executors.InvalidParameters, "the pattern %q is not a valid glob", in).
			Hint("Close each [ and {, and write \\[ for a bracket in a name.")
	}
	return nil
}

func (t *tools) find(ctx context.Context, _ *executors.Call, in *findInput) (executors.Result, error) {
	s, err := t.planFind(in)
	if err != nil {
		return fail(ctx, err)
	}
	if err := t.checkStart(in.Path); err != nil {
		return fail(ctx, err)
	}
	watch := t.watch(s.target, t.ignoring(in.IncludeIgnored))
	found, notes, err := t.findIn(ctx, s, in, watch)
	if s.implied && (errors.Is(err, fs.ErrNotExist) || err != nil && !t.isDirectory(s.target)) {
		found, notes, err = foundPaths{}, "", nil
	}
	if err != nil {
		return fail(ctx, t.explain(err, "search", s.target))
	}
	res := executors.Result{
		Text: strings.Join(found.shown, "\n"), Locations: found.files.locations,
		Raw: rawFound{Matches: found.total, Paths: append([]string{}, found.paths...), More: found.total > len(found.shown)},
	}
	res.Valid, res.ValidSize = watch.valid()
	switch {
	case found.total == 0:
		res.Text = "No files matching: " + executors.OneLine(in.Pattern)
	case found.total > len(found.shown):
		res.Text += fmt.Sprintf("\n[the first %d of %s; narrow the pattern or set path]", len(found.shown), quantity.Count(found.total, "match"))
	}
	res.Text += notes
	return res, nil
}

// foundPaths is the result of find_path, in order.
type foundPaths struct {
	shown []string    // for the model; at most Config.MaxResults, and as many as a page has room for
	room  int         // characters
	paths []string    // the first, for the raw output
	files matchPlaces // the regular files among those that are shown
	total int
}

// show adds the next path for the model, and reports whether there was room for it.
func (f *foundPaths) show(name string, most int) bool {
	if len(f.shown) < f.total || len(f.shown) == most {
		return false
	}
	if f.room -= utf8.RuneCountInString(name) + 1; f.room < 0 && len(f.shown) > 0 {
		return false
	}
	f.shown = append(f.shown, name)
	return true
}

// foundPath is an entry that matches.
type foundPath struct {
	path string // relative, with slashes; a directory ends in one
	file bool   // a regular file
}

// findIn returns all matching entries, sorted.
func (t *tools) findIn(ctx context.Context, s findPlan, in *findInput, watch *watch) (found foundPaths, notes string, err error) {
	dirsOnly := strings.HasSuffix(in.Pattern, "/")
	matches := walk.PathMatcher(s.pattern)
	visit := func(e walk.Entry, _ func() bool) (*foundPath, bool, error) {
		isDir := e.Type.IsDir()
		if isDir {
			watch.entry(e)
		}
		if dirsOnly && !isDir || !matches(e) {
			return nil, false, nil
		}
		if e.Type&fs.ModeSymlink != 0 {
			watch.entry(e)
		}
		if !t.mayName(s.target, e) {
			return nil, false, nil
		}
		f := &foundPath{e.Path(), e.Type.IsRegular()}
		if isDir {
			f.path += "/"
		}
		return f, true, nil
	}
	collect := func(f *foundPath) bool {
		if found.show(executors.OneLine(t.displayPath(s.target, f.path)), t.cfg.MaxResults) && f.file {
			found.files.add(s.below(f.path), 0)
		}
		if len(found.paths) < maxPlaces {
			found.paths = append(found.paths, s.below(f.path))
		}
		found.total++
		return true
	}
	found.room = t.cfg.pageChars()
	unseen, err := walk.Do(ctx, t.tree(s.target, t.ignoring(in.IncludeIgnored)), func() walk.Visit[*foundPath] { return visit },
		func(f *foundPath) int { return len(f.path) }, collect)
	return found, unseen.String(), err
}

// tree is the part of the file system that a search below tg visits.
func (t *tools) tree(tg target, respectIgnore bool) walk.Tree {
	return walk.Tree{Roots: t.roots, Dir: tg.abs, Ignore: respectIgnore, Budget: t.budget}
}

// ignoring reports whether ignore files apply. They do unless the user or the
// model turns them off.
func (t *tools) ignoring(include bool) bool { return t.cfg.RespectIgnore && !include }

// checkStart fails if the path that a call names is not a directory.
func (t *tools) checkStart(name string) error {
	tg, err := t.directory(name)
	if err != nil {
		return err
	}
	info, err := t.roots.Lstat(tg.abs)
	if err != nil {
		return t.explain(err, "search", tg)
	}
	if !info.IsDir() {
		return executors.Failuref(executors.PermanentFailure, "%s is not a directory", tg.display).
			Hint("Set path to the directory to search in.")
	}
	return nil
}

func (t *tools) isDirectory(tg target) bool {
	info, err := t.roots.Lstat(tg.abs)
	return err == nil && info.IsDir()
}

// mayName reports whether e may be named: a symlink only if it stays in the roots.
func (t *tools) mayName(start target, e walk.Entry) bool {
	if e.Type&fs.ModeSymlink == 0 {
		return true
	}
	_, err := t.roots.Resolve(filepath.Join(start.abs, filepath.FromSlash(e.Path())))
	return err == nil
}

// displayPath returns the path of an entry of a walk as the tools show paths.
func (t *tools) displayPath(start target, name string) string {
	dir := t.roots.Rel(start.abs)
	if dir == "." {
		return name
	}
	return strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/" + name
}
