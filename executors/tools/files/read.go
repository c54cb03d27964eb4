package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Pages  string `json:"pages,omitempty"`
}

func (t *tools) prepareRead(_ context.Context, _ *executors.Call, in *readInput) (executors.Card, error) {
	_, card, err := t.planRead(in)
	return card, err
}

// planRead returns the file to read, its state, and the card of the call.
func (t *tools) planRead(in *readInput) (at stattedTarget, card executors.Card, err error) {
	roots := t.roots.WithStats(&workspace.StatCache{})
	if at.target, err = t.resolveTarget("path", in.Path, roots.Resolve); err != nil {
		return at, refusedCard(executors.KindRead, in.Path), err
	}
	card = executors.Card{
		Title: at.title(),
		Kind:  executors.KindRead,
		Paths: []string{at.abs},
	}
	if at.info, at.err = roots.Lstat(at.abs); at.isFile() { // a client opens the locations
		card.Locations = []executors.Location{{Path: at.client, Line: max(0, in.Offset) + 1}}
	}
	if err := quantity.Check(quantity.Least{Name: "offset", Value: in.Offset}, quantity.Least{Name: "limit", Value: in.Limit}); err != nil {
		return at, card, executors.Failuref(executors.InvalidParameters, "%v", err)
	}
	return at, card, nil
}

func (t *tools) read(ctx context.Context, _ *executors.Call, in *readInput) (executors.Result, error) {
	at, card, err := t.planRead(in)
	if err != nil {
		return fail(ctx, err)
	}
	note := ""
	if isNotebook(at.abs) {
		valid := t.validText(in, at)
		res, why, err := t.readNotebook(ctx, at, in)
		if err != nil {
			return fail(ctx, t.explain(err, "read", at.target))
		}
		if note = why; note == "" {
			res.Valid, res.Locations = valid, card.Locations
			return res, nil
		}
	}
	if in.Pages != "" {
		if res, ok, err := t.readRange(ctx, at, in); err != nil {
			return fail(ctx, t.explain(err, "read", at.target))
		} else if ok {
			res.Locations = card.Locations
			return res, nil
		}
	}
	if form, head := t.formAt(at, false); form != nil {
		return t.readForm(ctx, form, formed{at, in, head})
	}
	valid := t.validText(in, at)
	p := pager{name: at.display, skip: in.Offset, limit: t.readLines(in), room: t.cfg.pageChars()}
	full, err := t.page(ctx, at, &p)
	if err != nil {
		if form, head := t.formAt(at, true); form != nil { // its name does not say so
			return t.readForm(ctx, form, formed{at, in, head})
		}
		return fail(ctx, t.explain(t.explainUnread(err, at), "read", at.target))
	}
	if p.shown == 0 && len(card.Locations) > 0 { // the page begins after the end
		card.Locations[0].Line = max(1, p.seen)
	}
	if note == "" && in.Pages != "" {
		note = "[pages was ignored: the file is text, whose lines offset and limit select]"
	}
	raw := rawRead{Path: at.client, FirstLine: in.Offset + 1, Lines: p.shown, Total: p.total, More: p.more}
	if p.encoding != nil {
		raw.Encoding, valid = p.encoding.Name(), nil // other files may declare it
	}
	return executors.Result{Text: executors.JoinLines(p.String(), note), Full: full, Locations: card.Locations, Valid: valid, Raw: raw}, nil
}

// readLines returns how many lines a call reads at most.
func (t *tools) readLines(in *readInput) int {
	if in.Limit > 0 {
		return min(in.Limit, t.cfg.MaxReadLines)
	}
	return t.cfg.MaxReadLines
}

// validText returns Result.Valid for a file that is read through FS; see unchangedSince.
func (t *tools) validText(in *readInput, at stattedTarget) func() bool {
	if !t.fs.ReadsDisk() {
		return nil
	}
	return t.unchangedSince(in.Path, at)
}

// page fills p from the file: from FS, or line by line from the disk if the
// file is too large. full holds the whole lines of the page if some are cut, else
// it is nil.
func (t *tools) page(ctx context.Context, at stattedTarget, p *pager) (full *executors.Spool, err error) {
	if at.isFile() && at.info.Size() > int64(t.cfg.MaxFileBytes) {
		return t.pageOfLarge(ctx, at, p)
	}
	f, err := t.loadStatted(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := checkText(at.target, f); err != nil {
		return nil, err
	}
	p.encoding = f.encoding
	text := strings.TrimPrefix(f.text, executors.ByteOrderMark)
	p.countLines(text)
	if err := p.read(ctx, strings.NewReader(text)); err != nil {
		return nil, err
	}
	return p.fullLines(ctx, strings.NewReader(text)), nil
}

// pageOfLarge fills p from a file that is read in pieces. The beginning of the file decides on its encoding, or
// the first line of the page that is not UTF-8.
func (t *tools) pageOfLarge(ctx context.Context, at stattedTarget, p *pager) (full *executors.Spool, err error) {
	f, _, err := t.roots.Open(at.abs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := sampleOf(f)
	if err != nil {
		return nil, err
	}
	empty := *p
	p.encoding = decode(at.abs, head, newDeclarations(t.roots)).encoding
	if err = p.readFrom(ctx, f); err != nil && p.encoding == nil && ctx.Err() == nil {
		failed := p.seen
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		in := buffered(f)
		var line []byte
		for n := 1; n < failed; n++ {
			if line, _, err = nextLine(ctx, in, line[:0]); err != nil {
				return nil, err
			}
		}
		sample, sampleErr := sampleOf(in)
		if e := decode(at.abs, sample, newDeclarations(t.roots)).encoding; e != nil && sampleErr == nil && !e.Wide() {
			*p = empty
			p.encoding = e
			err = p.readFrom(ctx, f)
		}
	}
	if err != nil || !p.cut {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return p.fullLines(ctx, p.decoded(f)), nil
}

// sampleBytes is how much of a large file decides on its encoding.
const sampleBytes = 64 << 10

// sampleOf reads whole lines, or a part of a long one.
func sampleOf(r io.Reader) (string, error) {
	data := make([]byte, sampleBytes)
	n, err := io.ReadFull(r, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return string(data[:n]), nil
	}
	if end := bytes.LastIndexByte(data, '\n'); end > 0 && !mayBeWide(data) {
		return string(data[:end+1]), err
	}
	for n > sampleBytes-utf8.UTFMax && !mayBeWide(data) && !utf8.RuneStart(data[n-1]) { // a character that is cut
		n--
	}
	if data[n-1] >= utf8.RuneSelf && !mayBeWide(data) {
		n--
	}
	return string(data[:n]), err
}
