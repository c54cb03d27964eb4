package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/pattern"
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

func (t *tools) prepareGrep(_ context.Context, _ *executors.Call, in grepInput) (executors.Card, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return refusedCard(executors.KindSearch, in.Path), err
	}
	title := titled(in.Pattern)
	if tg.show != "." {
		title += " in " + tg.title()
	}
	card := executors.Card{Title: title, Kind: executors.KindSearch, Paths: []string{tg.abs}}
	_, err = t.newSearcher(in)
	return card, err
}

// newSearcher checks the input of grep.
func (t *tools) newSearcher(in grepInput) (*searcher, error) {
	if in.Pattern == "" {
		return nil, executors.Failuref(executors.InvalidParameters, "the pattern is empty")
	}
	if len(in.Pattern) > maxPattern || len(in.Include) > maxPattern || strings.Count(in.Include, "{") > maxBraces {
		return nil, executors.Failuref(executors.InvalidParameters, "pattern or include is too large: at most %d bytes each and %d braces in include", maxPattern, maxBraces)
	}
	if in.Include != "" && !doublestar.ValidatePattern(in.Include) {
		return nil, executors.Failuref(executors.InvalidParameters, "include: %q is not a valid glob", in.Include)
	}
	if in.Context < 0 {
		return nil, executors.Failuref(executors.InvalidParameters, "context must not be negative, got %d", in.Context)
	}
	flags := "(?m)"
	if in.CaseSensitive != nil && !*in.CaseSensitive {
		flags = "(?mi)"
	}
	if _, err := pattern.Compile(in.Pattern); err != nil { // without the flags, which an error would quote
		return nil, unfitPattern(err)
	}
	s, err := newSearcher(flags+in.Pattern, min(in.Context, maxContext), t.cfg.MaxMatches, t.cfg.MaxReadChars-noteRoom)
	if err != nil {
		return nil, unfitPattern(err)
	}
	return s, nil
}

// unfitPattern is the failure of a regex that does not compile.
func unfitPattern(err error) *executors.Failure {
	if _, large := errors.AsType[pattern.TooLargeError](err); large {
		return executors.Failuref(executors.InvalidParameters, "the pattern cannot be used: %v", err).
			Hint("Use a shorter one, with smaller repetitions.")
	}
	return executors.Failuref(executors.InvalidParameters, "the pattern is not a valid regex: %v", err).
		Hint(`Use RE2 syntax: no lookaround or backreferences; write \( \[ \. for these characters themselves.`)
}

func (t *tools) grep(ctx context.Context, _ *executors.Call, in grepInput) (executors.Result, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return fail(ctx, err)
	}
	s, err := t.newSearcher(in)
	if err != nil {
		return fail(ctx, err)
	}
	out, notes := &matches{searcher: s}, ""
	res := executors.Result{}
	if t.isDirectory(tg) {
		watch := t.watch(tg, t.ignoring(in.IncludeIgnored))
		if notes, err = t.grepTree(ctx, tg, in, out, watch); err == nil {
			res.Valid, res.ValidSize = watch.valid()
		}
	} else {
		if t.readsDisk() {
			res.Valid = t.unchanged(in.Path, tg)
		}
		err = t.grepFile(ctx, tg, out)
	}
	if err != nil {
		return fail(ctx, t.explain(err, "search", tg))
	}
	if out.hits == 0 && strings.Contains(in.Pattern, `\n`) {
		notes = "\n[a match never goes over the end of a line]" + notes
	}
	res.Text, res.Locations = out.result(in.Pattern)+notes, out.places.locations
	res.Raw = rawMatches{Matches: out.hits, Files: out.places.files, Places: out.places.raw(), More: out.more}
	return res, nil
}

// grepFile searches one file that was asked for by name, unsaved changes
// included.
func (t *tools) grepFile(ctx context.Context, tg target, out *matches) error {
	text, err := t.load(ctx, tg)
	if err != nil {
		return err
	}
	if strings.IndexByte(text, 0) >= 0 {
		return checkText(tg, text)
	}
	var b searching
	found := out.file(&b, tg.show, []byte(text), func() bool { return ctx.Err() != nil })
	found.path = tg.client
	out.take(found)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// grepTree searches the files of a directory on disk, as far as they are text.
func (t *tools) grepTree(ctx context.Context, tg target, in grepInput, out *matches, watch *watch) (string, error) {
	included := func(walk.Entry) bool { return true }
	if in.Include != "" {
		include := in.Include
		if !strings.Contains(include, "/") {
			include = "**/" + include
		}
		included = walk.PathMatcher(strings.TrimPrefix(path.Clean(include), "/"))
	}
	newVisit := func() walk.Visit[fileMatches] {
		var b searching
		return func(e walk.Entry, stopped func() bool) (found fileMatches, ok bool, err error) {
			if e.Type.IsDir() {
				watch.entry(e)
			}
			if !e.Type.IsRegular() || !included(e) {
				return found, false, nil
			}
			watch.entry(e)
			data, size, err := e.Dir.Read(e.Name, b.data, t.cfg.MaxFileBytes)
			if b.data = data; err != nil { // to use its memory again
				return found, false, err
			}
			if size > int64(t.cfg.MaxFileBytes) {
				return fileMatches{large: true}, true, nil
			}
			if !out.mayMatch(data) {
				return found, false, nil
			}
			found = out.file(&b, t.join(tg, e.Path()), data, stopped)
			found.path = e.Path()
			return found, len(found.ends) > 0, nil
		}
	}
	n, err := walk.Do(ctx, t.tree(tg, in.IncludeIgnored), newVisit, func(f fileMatches) int { return len(f.text) }, func(f fileMatches) bool {
		f.path = tg.below(f.path)
		return out.take(f)
	})
	if err != nil {
		return "", err
	}
	text := n.String()
	if out.large > 0 {
		text += fmt.Sprintf("\n[%s larger than %d bytes not searched; use bash for those]", executors.Count(out.large, "file"), t.cfg.MaxFileBytes)
	}
	return text, nil
}
