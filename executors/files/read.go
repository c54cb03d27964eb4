package files

import (
	"context"
	"io"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

func (t *tools) prepareRead(_ context.Context, _ *executors.Call, in readInput) (executors.Card, error) {
	tg, err := t.target(in.Path)
	if err != nil {
		return refusedCard(executors.KindRead, in.Path), err
	}
	card := executors.Card{
		Title: tg.title(),
		Kind:  executors.KindRead,
		Paths: []string{tg.abs},
	}
	if info, err := t.roots.Lstat(tg.abs); err == nil && info.Mode().IsRegular() { // a client opens the locations
		card.Locations = []executors.Location{{Path: tg.client, Line: max(0, in.Offset) + 1}}
	}
	if in.Offset < 0 || in.Limit < 0 {
		return card, executors.Failuref(executors.InvalidParameters, "offset and limit must not be negative, got %d and %d", in.Offset, in.Limit)
	}
	return card, nil
}

func (t *tools) read(ctx context.Context, call *executors.Call, in readInput) (executors.Result, error) {
	card, err := t.prepareRead(ctx, call, in)
	if err != nil {
		return fail(ctx, err)
	}
	tg, err := t.target(in.Path)
	if err != nil {
		return fail(ctx, err)
	}
	limit := t.cfg.MaxReadLines
	if in.Limit > 0 {
		limit = min(limit, in.Limit)
	}
	var valid func() bool
	if t.readsDisk() {
		valid = t.unchanged(in.Path, tg)
	}
	p := pager{name: tg.show, skip: in.Offset, limit: limit, room: t.cfg.MaxReadChars - noteRoom}
	full, err := t.page(ctx, tg, &p)
	if err != nil {
		return fail(ctx, t.explain(err, "read", tg))
	}
	if p.shown == 0 && len(card.Locations) > 0 { // the page begins after the end
		card.Locations[0].Line = max(1, p.seen)
	}
	return executors.Result{Text: p.String(), Full: full, Locations: card.Locations, Valid: valid, Raw: rawRead{
		Path: tg.client, FirstLine: in.Offset + 1, Lines: p.shown, Total: p.total, More: p.more,
	}}, nil
}

// page fills p from the file at tg: from FS, or line by line from the disk if the
// file is too large. full holds the whole lines of the page if some are cut, else
// it is nil.
func (t *tools) page(ctx context.Context, tg target, p *pager) (full *executors.Spool, err error) {
	if info, err := t.roots.Lstat(tg.abs); err == nil && info.Mode().IsRegular() && info.Size() > int64(t.cfg.MaxFileBytes) {
		f, _, err := t.roots.Open(tg.abs)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := p.read(ctx, f); err != nil || !p.cut {
			return nil, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return p.whole(ctx, f), nil
	}
	text, err := t.load(ctx, tg)
	if err != nil {
		return nil, err
	}
	if err := checkText(tg, text); err != nil {
		return nil, err
	}
	text = strings.TrimPrefix(text, executors.ByteOrderMark)
	p.count(text)
	if err := p.read(ctx, strings.NewReader(text)); err != nil {
		return nil, err
	}
	return p.whole(ctx, strings.NewReader(text)), nil
}
