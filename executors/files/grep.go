package files

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
)

type grepInput struct {
	Pattern       string `json:"pattern"`
	Path          string `json:"path,omitempty"`
	CaseSensitive *bool  `json:"case_sensitive,omitempty" jsonschema:"default=true"`
	Include       string `json:"include,omitempty"`
	Context       int    `json:"context,omitempty"`
}

// maxContext bounds the lines around a match.
const maxContext = 20

func (t *tools) prepareGrep(_ context.Context, _ *executors.Call, in grepInput) (executors.Card, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return executors.Card{}, err
	}
	title := "Search " + oneLine(in.Pattern)
	if tg.show != "." {
		title += " in " + tg.show
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
	if _, err := regexp.Compile(in.Pattern); err != nil {
		return nil, executors.Failuref(executors.InvalidParameters, "the pattern is not a valid regex: %v", err).
			Hint(`Use RE2 syntax: no lookaround or backreferences; write \( \[ \. for these characters themselves.`)
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
	s := &searcher{
		re:      regexp.MustCompile(flags + in.Pattern),
		context: min(in.Context, maxContext),
		most:    t.cfg.MaxMatches,
		room:    t.cfg.MaxReadChars - noteRoom,
	}
	s.whole = !anchoredToText(s.re.String())
	return s, nil
}

// anchoredToText reports whether a regex speaks of the begin or end of the text,
// so that it means another thing for a line than for a whole file.
func anchoredToText(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	return err != nil || hasTextAnchor(re)
}

func hasTextAnchor(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if hasTextAnchor(sub) {
			return true
		}
	}
	return false
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
	notes := ""
	if t.isDirectory(tg) {
		notes, err = t.grepTree(ctx, tg, in.Include, s)
	} else {
		err = t.grepFile(ctx, tg, s)
	}
	if err != nil {
		return fail(ctx, t.explain(err, "search", tg))
	}
	if s.hits == 0 && strings.Contains(in.Pattern, `\n`) {
		notes = "\n[a match never goes over the end of a line]" + notes
	}
	return executors.Result{Text: s.result(in.Pattern) + notes}, nil
}

// grepFile searches one file that was asked for by name, unsaved changes
// included.
func (t *tools) grepFile(ctx context.Context, tg target, s *searcher) error {
	text, err := t.load(ctx, tg)
	if err != nil {
		return err
	}
	if strings.IndexByte(text, 0) >= 0 {
		return checkText(tg, text)
	}
	s.file(tg.show, []byte(text))
	return nil
}

// grepTree searches the files of a directory on disk, as far as they are text.
func (t *tools) grepTree(ctx context.Context, tg target, include string, s *searcher) (notes string, err error) {
	if include != "" && !strings.Contains(include, "/") {
		include = "**/" + include
	}
	include = strings.TrimPrefix(path.Clean(include), "/")
	var unread walker // of files, where walk's own is of directories
	large := 0
	var buf []byte
	w, err := t.walk(ctx, tg, func(e entry) error {
		if !e.Type().IsRegular() || include != "." && !doublestar.MatchUnvalidated(include, e.path) {
			return nil
		}
		data, size, err := readInto(buf[:0], e, t.cfg.MaxFileBytes)
		buf = data // to use its memory again
		switch {
		case err != nil:
			unread.problem(t.join(tg, e.path), err)
		case size > int64(t.cfg.MaxFileBytes):
			large++
		case !s.file(t.join(tg, e.path), data):
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	w.unread, w.hidden = append(w.unread, unread.unread...), w.hidden || unread.hidden
	notes = w.notes()
	if large > 0 {
		notes += fmt.Sprintf("\n[%s larger than %d bytes not searched; use bash for those]", count(large, "file"), t.cfg.MaxFileBytes)
	}
	return notes, nil
}

// readInto reads a file of a walk into buf, unless it has more than most bytes.
func readInto(buf []byte, e entry, most int) (data []byte, size int64, err error) {
	f, info, err := e.dir.Open(e.Name(), os.O_RDONLY)
	if err != nil {
		return buf, 0, err
	}
	defer f.Close()
	size = info.Size()
	if size > int64(most) {
		return buf, size, nil
	}
	if need := int(size) + 1; cap(buf) < need { // one more, to see the end without growing
		buf = make([]byte, 0, need+need/4)
	}
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, int64(len(buf)), nil
		}
		if err != nil || len(buf) > most {
			return buf, int64(len(buf)), err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
