package app

import (
	"context"
	"log/slog"
	"reflect"

	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// maskedLog returns a logger that masks the credentials in messages and attributes.
func (a *App) maskedLog(log *slog.Logger) *slog.Logger {
	return slog.New(maskedHandler{log.Handler(), func() texts.Change { return a.exit("") }})
}

// maskedHandler masks credentials in log records.
type maskedHandler struct {
	slog.Handler
	exit func() texts.Change
}

func (h maskedHandler) Handle(ctx context.Context, r slog.Record) error {
	change := h.exit()
	if change.Text == nil {
		return h.Handler.Handle(ctx, r)
	}
	out := slog.NewRecord(r.Time, r.Level, change.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(maskedAttr(a, change))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

func (h maskedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = maskedAttr(a, h.exit())
	}
	return maskedHandler{h.Handler.WithAttrs(masked), h.exit}
}

func (h maskedHandler) WithGroup(name string) slog.Handler {
	return maskedHandler{h.Handler.WithGroup(name), h.exit}
}

// maskedAttr returns an attribute with credentials masked. Errors and other values become strings.
func maskedAttr(a slog.Attr, change texts.Change) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, change.Text(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, len(v.Group()))
		for i, member := range v.Group() {
			group[i] = maskedAttr(member, change)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		switch reflect.ValueOf(v.Any()).Kind() {
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64, reflect.Invalid:
		default:
			if text := v.String(); change.Text(text) != text {
				return slog.String(a.Key, change.Text(text))
			}
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
