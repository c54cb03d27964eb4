// Package overflow keeps what is too long for the model: the model gets the
// head and the tail of a long text, and a reference by which the tool
// read_overflow gives any part of it.
//
//	o := &overflow.Overflow{Store: db, Memory: memory, Config: cfg}
//	chain := executors.Chain(executors.NewDynExecutor(tools, o.Tools()), …, o.Middleware, filter)
//
// It promises that what a result holds back is a read_overflow away, or that its
// last line says what is gone and why; that nobody reads what another session
// kept; and that no text of any length is held whole. It masks nothing: texts
// are kept as they come out of the filter.
//
// Why is the id of a text made of the text? So that a call which gives the same
// again has the same result, reference included: the agent notices that it goes
// round in circles, the provider's cache holds, and the text is stored once.
package overflow

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Name is the name of the tool.
const Name = "read_overflow"

// Store keeps texts by session and id. It may be used concurrently.
type Store interface {
	// PutOverflow keeps what r gives, all of it or nothing. An id stands for one
	// text: where it is there already, PutOverflow may do nothing.
	PutOverflow(ctx context.Context, session, id string, r io.Reader) error
	// Overflow gives the text in pieces of bounded size; an error is the last.
	// It is fs.ErrNotExist where the session has no text of that id.
	Overflow(ctx context.Context, session, id string) iter.Seq2[[]byte, error]
}

// Overflow is what keeps the long texts of a session. It may be used
// concurrently, and must not be copied.
type Overflow struct {
	Store  Store    // nil: there is none
	Memory *Memory  // takes what Store does not; nil: that is gone
	Config Config   // of the session
	Paged  []string // names of tools that bound their own text, and say how to go on
	// Summarizer sums up what is too long for the model; nil: nobody does.
	Summarizer Summarizer
	Log        *slog.Logger

	mu sync.Mutex // held while a text is stored: parallel calls may give the same one
}

// Middleware shortens the results that pass.
func (o *Overflow) Middleware(next executors.Executor) executors.Executor {
	return link{next, o}
}

type link struct {
	executors.Executor
	overflow *Overflow
}

func (l link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := l.Executor.Execute(ctx, call)
	full := res.Full
	res.Full = nil
	defer full.Close()
	if err == nil && call.Tool != Name {
		l.overflow.shorten(ctx, call, &res, full)
	}
	return res, err
}

// shorten bounds the text of a result, and stores what it does not hold.
func (o *Overflow) shorten(ctx context.Context, call *executors.Call, res *executors.Result, full *executors.Spool) {
	text, long := res.Text, o.long(res.Text) && !slices.Contains(o.Paged, call.Tool)
	var source io.ReaderAt = strings.NewReader(text)
	size := int64(len(text))
	switch {
	case full != nil && !holds(text, full):
		source, size = full, full.Size()
	case !long:
		return
	}
	if raw, ok := res.Raw.(string); ok {
		res.Raw = cut(raw, o.Config.Threshold)
	}
	if short, ok := o.summarize(ctx, call, text, source, size); ok {
		res.Text = short
	} else if long {
		res.Text = cut(text, o.Config.Threshold)
	}
	res.Text = below(res.Text, o.keep(ctx, call.Session, source, size))
	if r := call.Record; r != nil {
		r.Truncated, r.Before = true, cmp.Or(r.Before, int(size))
	}
}

// Shorten gives a text that goes to the model by another way than a result: as
// it is if it is short enough, else shortened and with a reference to all of it,
// as of results.
func (o *Overflow) Shorten(ctx context.Context, session, text string) string {
	if !o.long(text) {
		return text
	}
	return below(cut(text, o.Config.Threshold), o.keep(ctx, session, strings.NewReader(text), int64(len(text))))
}

// Keep stores a text of any length, and gives the line that refers to it; false
// if not all of it could be kept.
func (o *Overflow) Keep(ctx context.Context, session, text string) (line string, ok bool) {
	if most := o.Config.MaxOverflowBytes; most > 0 && int64(len(text)) > most {
		return "", false
	}
	line = o.keep(ctx, session, strings.NewReader(text), int64(len(text)))
	return line, strings.Contains(line, prefix)
}

func (o *Overflow) long(text string) bool {
	return len(text) > o.Config.Threshold && utf8.RuneCountInString(text) > o.Config.Threshold
}

// holds reports whether a text is all that full has, but for its last newline.
func holds(text string, full *executors.Spool) bool {
	if size := full.Size(); size < int64(len(text)) || size > int64(len(text))+2 {
		return size == 0
	}
	all, err := io.ReadAll(full.Reader())
	return err == nil && strings.TrimRight(string(all), "\r\n") == strings.TrimRight(text, "\r\n")
}

// filtered begins the last line of a text of which a filter took lines away.
const filtered = "[shell] "

// below puts a line below a text, beside the one that says how much of it a
// filter took away.
func below(text, line string) string {
	if last := text[strings.LastIndexByte(text, '\n')+1:]; strings.HasPrefix(last, filtered) {
		return text + " " + line
	}
	if text == "" || strings.HasSuffix(text, "\n") {
		return text + line
	}
	return text + "\n" + line
}

// open gives a kept text in pieces.
func (o *Overflow) open(ctx context.Context, session, id string) iter.Seq2[[]byte, error] {
	if o.Store == nil || o.Memory.has(session, id) {
		return o.Memory.Overflow(ctx, session, id)
	}
	return o.Store.Overflow(ctx, session, id)
}

// put stores a text, where it can.
func (o *Overflow) put(ctx context.Context, session, id string, r func() io.Reader) (where place, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Store != nil {
		if err = o.Store.PutOverflow(ctx, session, id, r()); err == nil || ctx.Err() != nil {
			return stored, err
		}
		o.log().Warn("an overflow cannot be stored", "session", session, "err", err)
	}
	if memErr := o.Memory.PutOverflow(ctx, session, id, r()); memErr != nil {
		return inMemory, errors.Join(memErr, err)
	}
	return inMemory, nil
}

func (o *Overflow) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}
