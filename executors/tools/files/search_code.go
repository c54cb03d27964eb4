package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/code"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
)

type codeInput struct {
	Query      string `json:"query"`
	Path       string `json:"path,omitempty"`
	Include    string `json:"include,omitempty"`
	MaxResults int    `json:"max_results,omitempty" jsonschema:"default=10"`
}

const (
	defaultHits = 10
	maxHits     = 50

	// maxSearch bounds one search_code: a directory may be a slow mount.
	maxSearch = 30 * time.Second
)

var errSlowSearch = errors.New("the search takes too long")

func (t *tools) prepareSearchCode(_ context.Context, _ *executors.Call, in *codeInput) (executors.Card, error) {
	tg, err := t.directory(in.Path)
	if err != nil {
		return refusedCard(executors.KindSearch, in.Path), err
	}
	card := executors.Card{Title: searchTitle(in.Query, tg), Kind: executors.KindSearch, Paths: []string{tg.abs}}
	_, _, err = t.planCode(in)
	return card, err
}

// planCode checks the input of search_code.
func (t *tools) planCode(in *codeInput) (q code.Query, included func(walk.Entry) bool, err error) {
	if q, err = code.ParseQuery(in.Query); err != nil {
		return q, nil, executors.Failuref(executors.InvalidParameters, "%v", err).
			Hint("Name a symbol, such as Type.Method, or a few words; at most %d bytes.", code.MaxQuery)
	}
	included, err = includeMatcher(in.Include)
	return q, included, err
}

func (t *tools) searchCode(ctx context.Context, _ *executors.Call, in *codeInput) (executors.Result, error) {
	q, included, err := t.planCode(in)
	if err != nil {
		return fail(ctx, err)
	}
	tg, err := t.directory(in.Path)
	if err != nil {
		return fail(ctx, err)
	}
	most := in.MaxResults
	if most < 1 {
		most = defaultHits
	}
	most = min(most, maxHits)
	s := &codeSearch{tools: t, start: tg, included: included, limit: most, declared: newDeclarations(t.roots), ascii: isASCII(in.Query), Search: code.NewSearch(q, most)}
	res := executors.Result{}
	if t.isDirectory(tg) {
		s.watch = t.watch(tg, t.cfg.RespectIgnore)
		if err = s.directory(ctx, q); err == nil && s.note == "" {
			res.Valid, res.ValidSize = s.watch.valid()
		}
	} else {
		if t.fs.ReadsDisk() {
			res.Valid = t.unchanged(in.Path, tg)
		}
		err = s.file(ctx)
	}
	if err != nil {
		return fail(ctx, t.explain(err, "search", tg))
	}
	s.writeResult(in.Query, &res)
	return res, nil
}

// codeSearch is one run of search_code.
type codeSearch struct {
	*code.Search
	*tools
	start      target
	included   func(walk.Entry) bool
	watch      *watch
	declared   *declarations
	ascii      bool         // the query is ASCII
	limit      int          // hits shown
	unsearched []unsearched // files that were not searched
	large      int          // how many of them are too large
	note       string       // about the part that was not searched
}

// unsearched is a file that was not searched.
type unsearched struct {
	path string
	err  error // nil: it is too large
}

// directory searches the source files below the start. If nothing is found, or the query
// has several words, it also searches the other files.
func (s *codeSearch) directory(ctx context.Context, q code.Query) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxSearch, errSlowSearch)
	defer cancel()
	if !q.Symbol() {
		return s.walk(ctx, func(walk.Entry) bool { return true })
	}
	if err := s.walk(ctx, func(e walk.Entry) bool { return code.IsSource(e.Name) }); err != nil {
		return err
	}
	if hits, _ := s.Hits(); len(hits) > 0 || s.note != "" {
		return nil
	}
	return s.walk(ctx, func(e walk.Entry) bool { return !code.IsSource(e.Name) })
}

// walk searches the files below the start that satisfy a condition. Files that can no
// longer change the result are not read, so problems with them are not reported either.
func (s *codeSearch) walk(ctx context.Context, wanted func(walk.Entry) bool) error {
	newVisit := func() walk.Visit[*codeHits] { return s.newVisit(wanted) }
	n, err := walk.Do(ctx, s.tree(s.start, s.cfg.RespectIgnore), newVisit, (*codeHits).size, func(f *codeHits) bool {
		if f.missed != nil {
			s.unsearched = append(s.unsearched, *f.missed)
		}
		s.Add(f.hits)
		return true
	})
	for _, m := range s.unsearched {
		switch {
		case !s.Scanner().MayShow(m.path):
		case m.err == nil:
			s.large++
		default:
			n.Add(m.path, m.err)
		}
	}
	s.unsearched = nil
	if errors.Is(err, errSlowSearch) {
		s.note = fmt.Sprintf("\n[stopped after %s, before the end; use a deeper path]", maxSearch)
		return nil
	}
	s.note = n.String()
	return err
}

// newVisit returns the visit of one goroutine of walk.
func (s *codeSearch) newVisit(wanted func(walk.Entry) bool) walk.Visit[*codeHits] {
	sc := s.Scanner()
	var buf []byte
	return func(e walk.Entry, stopped func() bool) (*codeHits, bool, error) {
		if e.Type.IsDir() {
			s.watch.entry(e)
		}
		if !e.Type.IsRegular() || !wanted(e) || !s.included(e) {
			return nil, false, nil
		}
		s.watch.entry(e)
		path := e.Path()
		if !sc.MayShow(path) {
			return nil, false, nil
		}
		data, size, err := e.Dir.Read(e.Name, buf, s.cfg.MaxFileBytes)
		buf = data // to reuse its memory
		if err != nil || size > int64(s.cfg.MaxFileBytes) {
			return &codeHits{missed: &unsearched{path, err}}, true, nil
		}
		if !s.ascii || sc.MayMatch(path, data) || mayBeWide(data) {
			data = searchable(filepath.Join(s.start.abs, filepath.FromSlash(path)), data, s.declared)
		}
		hits := sc.File(path, data, stopped)
		if len(hits) == 0 {
			return nil, false, nil
		}
		return &codeHits{hits: hits}, true, nil
	}
}

// file searches one file that was asked for by name, unsaved changes included.
func (s *codeSearch) file(ctx context.Context) error {
	f, err := s.load(ctx, s.start)
	if err != nil {
		return err
	}
	if strings.IndexByte(f.text, 0) >= 0 {
		return checkText(s.start, f)
	}
	s.Add(s.Scanner().File(path.Base(s.start.client), []byte(f.text), func() bool { return ctx.Err() != nil }))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// writeResult writes the result.
func (s *codeSearch) writeResult(query string, res *executors.Result) {
	hits, more := s.Hits()
	var b strings.Builder
	var places matchPlaces
	definitions, isDirectory := 0, s.watch != nil
	for _, h := range hits {
		name, abs := s.start.display, s.start.client
		if isDirectory {
			name, abs = executors.OneLine(s.displayPath(s.start, h.Path)), s.start.below(h.Path)
		}
		fmt.Fprintf(&b, "%s:%d %s", name, h.Line, h.Kind)
		for _, part := range []string{h.Name, h.Signature} {
			if part != "" {
				b.WriteString(" " + part)
			}
		}
		b.WriteByte('\n')
		if h.Kind != code.Text {
			definitions++
		}
		places.add(abs, h.Line)
	}
	res.Text = strings.TrimSuffix(b.String(), "\n")
	switch {
	case len(hits) == 0:
		res.Text = "No code matches: " + executors.OneLine(query)
	case more && len(hits) < s.limit:
		res.Text += "\n[some files have more uses: grep finds them all]"
	case more:
		res.Text += fmt.Sprintf("\n[the best %d; there are more: qualify the name, set path or include, or raise max_results]", len(hits))
	}
	res.Text += s.note + s.largeNote(s.large)
	res.Locations = places.locations
	res.Raw = rawCode{Definitions: definitions, Texts: len(hits) - definitions, Places: places.raw(), More: more}
}

// codeHits are the hits in one file.
type codeHits struct {
	hits   []code.Hit
	missed *unsearched // nil: the file was searched
}

func (f *codeHits) size() int {
	n := 0
	for _, h := range f.hits {
		n += h.Size()
	}
	return n
}
