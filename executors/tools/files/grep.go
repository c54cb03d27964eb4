package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/search"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type grepInput struct {
	Pattern       string `json:"pattern"`
	Path          string `json:"path,omitempty"`
	CaseSensitive *bool  `json:"case_sensitive,omitempty" jsonschema:"default=true"`
	Include       string `json:"include,omitempty"`
	Context       int    `json:"context,omitempty"`

	IncludeIgnored bool `json:"include_ignored,omitempty"`
}

// maxContext bounds the lines around a match.
const maxContext = 20

func (t *tools) prepareGrep(_ context.Context, _ *executors.Call, in *grepInput) (executors.Card, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return refusedCard(executors.KindSearch, in.Path), err
	}
	card := executors.Card{Title: searchTitle(in.Pattern, tg), Kind: executors.KindSearch, Paths: []string{tg.abs}}
	_, err = t.newSearcher(in)
	return card, err
}

// newSearcher checks the input of grep and compiles its pattern.
func (t *tools) newSearcher(in *grepInput) (*search.Searcher, error) {
	if in.Pattern == "" {
		return nil, executors.Failuref(executors.InvalidParameters, "the pattern is empty")
	}
	if len(in.Pattern) > maxPattern {
		return nil, executors.Failuref(executors.InvalidParameters, "the pattern is too large: at most %d bytes", maxPattern)
	}
	if _, err := includeMatcher(in.Include); err != nil {
		return nil, err
	}
	if in.Context < 0 {
		return nil, executors.Failuref(executors.InvalidParameters, "context must not be negative, got %d", in.Context)
	}
	flags := "(?m)"
	if in.CaseSensitive != nil && !*in.CaseSensitive {
		flags = "(?mi)"
	}
	if _, err := pattern.Compile(in.Pattern); err != nil { // without the flags, which an error would quote
		return nil, patternFailure(err)
	}
	s, err := search.New(flags+in.Pattern, search.Limits{
		Context: min(in.Context, maxContext), Matches: t.cfg.MaxMatches, Bytes: t.cfg.pageChars(),
	})
	if err != nil {
		return nil, patternFailure(err)
	}
	return s, nil
}

// includeMatcher returns a function that reports whether the path of an entry matches a glob,
// or its name if the glob has no slash; "" matches all.
func includeMatcher(glob string) (func(walk.Entry) bool, error) {
	switch {
	case glob == "":
		return func(walk.Entry) bool { return true }, nil
	case len(glob) > maxPattern || strings.Count(glob, "{") > maxBraces:
		return nil, executors.Failuref(executors.InvalidParameters, "include is too large: at most %d bytes and %d braces",
			maxPattern, maxBraces)
	case !doublestar.ValidatePattern(glob):
		return nil, executors.Failuref(executors.InvalidParameters, "include: %q is not a valid glob", glob)
	case !strings.Contains(glob, "/"):
		glob = "**/" + glob
	}
	return walk.PathMatcher(strings.TrimPrefix(path.Clean(glob), "/")), nil
}

// patternFailure returns the failure for a regex that does not compile.
func patternFailure(err error) *executors.Failure {
	if _, large := errors.AsType[*pattern.TooLargeError](err); large {
		return executors.Failuref(executors.InvalidParameters, "the pattern cannot be used: %v", err).
			Hint("Use a shorter one, with smaller repetitions.")
	}
	return executors.Failuref(executors.InvalidParameters, "the pattern is not a valid regex: %v", err).
		Hint(`Use RE2 syntax: no lookaround or backreferences; write \( \[ \. for these characters themselves.`)
}

func (t *tools) grep(ctx context.Context, _ *executors.Call, in *grepInput) (executors.Result, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return fail(ctx, err)
	}
	s, err := t.newSearcher(in)
	if err != nil {
		return fail(ctx, err)
	}
	out, notes := &grepResult{Matches: search.Matches{Searcher: s}}, ""
	res := executors.Result{}
	if t.isDirectory(tg) {
		watch := t.watch(tg, t.ignoring(in.IncludeIgnored))
		if notes, err = t.grepTree(ctx, tg, in, out, watch); err == nil {
			res.Valid, res.ValidSize = watch.valid()
		}
	} else {
		if t.fs.ReadsDisk() {
			res.Valid = t.unchanged(in.Path, tg)
		}
		err = t.grepFile(ctx, tg, out)
	}
	if err != nil {
		return fail(ctx, t.explain(err, "search", tg))
	}
	if out.Hits == 0 && strings.Contains(in.Pattern, `\n`) {
		notes = "\n[a match never spans several lines]" + notes
	}
	res.Text, res.Locations = out.Text(in.Pattern)+notes, out.places.locations
	res.Raw = rawMatches{Matches: out.Hits, Files: out.places.files, Places: out.places.raw(), More: out.More}
	return res, nil
}

// fileMatches is the result of grep in one file.
type fileMatches struct {
	search.Found
	path  string // relative to the start of the walk; absolute for grepResult.add
	large bool   // the file was not searched
}

// grepResult is the result of grep in all files.
type grepResult struct {
	search.Matches
	places matchPlaces
	large  int // files not searched
}

// add adds the result of the next file. It returns false when nothing more can be
// shown.
func (g *grepResult) add(f fileMatches) bool {
	if f.large {
		g.large++
	}
	before := g.Hits
	more := g.Add(f.Found)
	if g.Hits > before {
		g.places.add(f.path, f.Line)
	}
	return more
}

// grepFile searches one file that was asked for by name, unsaved changes
// included.
func (t *tools) grepFile(ctx context.Context, tg target, out *grepResult) error {
	f, err := t.load(ctx, tg)
	if err != nil {
		return err
	}
	if strings.IndexByte(f.text, 0) >= 0 {
		return checkText(tg, f)
	}
	var b search.Buffer
	found := out.File(&b, tg.display, []byte(f.text), func() bool { return ctx.Err() != nil })
	out.add(fileMatches{Found: found, path: tg.client})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// grepTree searches the text files below a directory on disk.
func (t *tools) grepTree(ctx context.Context, tg target, in *grepInput, out *grepResult, watch *watch) (string, error) {
	included, err := includeMatcher(in.Include)
	if err != nil {
		return "", err
	}
	declared, ascii := newDeclarations(t.roots), out.NeedsASCII()
	newVisit := func() walk.Visit[*fileMatches] {
		var b search.Buffer
		return func(e walk.Entry, stopped func() bool) (*fileMatches, bool, error) {
			if e.Type.IsDir() {
				watch.entry(e)
			}
			if !e.Type.IsRegular() || !included(e) {
				return nil, false, nil
			}
			watch.entry(e)
			data, size, err := e.Dir.Read(e.Name, b.Data, t.cfg.MaxFileBytes)
			if b.Data = data; err != nil { // to reuse its memory
				return nil, false, err
			}
			if size > int64(t.cfg.MaxFileBytes) {
				return &fileMatches{large: true}, true, nil
			}
			if ascii && !out.MayMatch(data) && !mayBeWide(data) {
				return nil, false, nil
			}
			data = searchable(filepath.Join(tg.abs, filepath.FromSlash(e.Path())), data, declared)
			if !out.MayMatch(data) {
				return nil, false, nil
			}
			found := &fileMatches{Found: out.File(&b, executors.OneLine(t.displayPath(tg, e.Path())), data, stopped), path: e.Path()}
			return found, found.Line > 0, nil
		}
	}
	n, err := walk.Do(ctx, t.tree(tg, t.ignoring(in.IncludeIgnored)), newVisit, (*fileMatches).Size, func(f *fileMatches) bool {
		f.path = tg.below(f.path)
		return out.add(*f)
	})
	if err != nil {
		return "", err
	}
	return n.String() + t.largeNote(out.large), nil
}

// largeNote returns a note about the files that were too large to search, "" if there
// are none.
func (t *tools) largeNote(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%s larger than %s not searched; use bash for those]", quantity.Count(n, "file"), quantity.Count(t.cfg.MaxFileBytes, "byte"))
}
