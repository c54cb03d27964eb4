// Package overflow limits the output that models get, and stores what exceeds the limit. The
// model gets the head and the tail of a long output, and a reference with which read_overflow
// returns any part of it.
//
//	o := &overflow.Overflow{Store: db, Memory: memory, MaxChars: 50_000, Config: cfg}
//	chain := executors.Chain(executors.NewDynExecutor(tools, o.Tools()), o.Gate, …, o.Middleware, filter)
//
// It is the only link that limits the text of a result. Some tools fit their text into the limit
// themselves ([executors.Pages]).
//
// It promises that read_overflow returns every part that a result leaves out. If a part was lost,
// the last line of the result says which one and why. No session can read the texts of another. No
// text is held in memory as a whole. It does not mask: texts are kept as the filter returns them.
//
// Why is the id of a text computed from the text? So a repeated call has the same result,
// including the reference: the agent detects the repetition, the provider's cache stays
// valid, and the text is stored once.
package overflow

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// toolName is the name of the tool.
const toolName = "read_overflow"

// Store keeps texts by session and id. It may be used concurrently.
type Store interface {
	// PutOverflow keeps the text of r, all of it or nothing. An id stands for one
	// text: if it exists already, PutOverflow may do nothing.
	PutOverflow(ctx context.Context, session, id string, r io.Reader) error
	// Overflow yields the text in pieces of bounded size; an error comes last. It
	// is fs.ErrNotExist if the session has no text of that id.
	Overflow(ctx context.Context, session, id string) iter.Seq2[[]byte, error]
}

// Overflow keeps the long texts of a session. It may be used concurrently, and must
// not be copied.
type Overflow struct {
	Store  Store   // nil: there is no store
	Memory *Memory // keeps the texts that Store cannot; nil: they are dropped
	// MaxChars is the limit in characters, unless a tool has another ([executors.Tool.MaxOutput]).
	MaxChars int
	// Budget is the number of characters over which a text with known parts, such as failures or hunks,
	// is shortened by what they are worth; 0 means that it never is.
	Budget int
	Config Config // of the session
	// Summarizer summarises texts that are too long; nil: there are no summaries.
	Summarizer Summarizer
	Log        *slog.Logger

	mu sync.Mutex // held while a text is stored: parallel calls may return the same one
}

// Middleware returns the link that limits the results of tools. The filter, which is closer to the
// tools, has masked them.
func (o *Overflow) Middleware(next executors.Executor) executors.Executor {
	return link{next, o, func(res *executors.Result, limit int) {
		if o.Budget < limit {
			res.Spend(o.Budget)
		}
		res.Bound(limit)
	}}
}

// Gate returns the outermost link of a chain. It limits what the other links write: failures, and
// notes around the text of a tool.
func (o *Overflow) Gate(next executors.Executor) executors.Executor {
	return link{next, o, (*executors.Result).BoundAround}
}

type link struct {
	executors.Executor
	overflow *Overflow
	bound    func(res *executors.Result, limit int)
}

func (l link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := l.Executor.Execute(ctx, call)
	l.bound(&res, cmp.Or(call.Spec.MaxOutput, l.overflow.MaxChars))
	full := res.Full
	res.Full = nil
	defer full.Close()
	if err == nil && full != nil && call.Tool != toolName && !equalsFull(res.Text, full) {
		l.overflow.keep(ctx, call, &res, full)
	}
	return res, err
}

// keep stores the full text of a result and adds the reference to it.
func (o *Overflow) keep(ctx context.Context, call *executors.Call, res *executors.Result, full *executors.Spool) {
	size := full.Size()
	if short, ok := o.summarize(ctx, call, res.Text, full, size); ok {
		res.Text = short
	}
	line, _ := o.store(ctx, call.Session, full, size)
	addReference(res, line)
	if r := call.Record; r != nil {
		r.Truncated, r.OutputBytes = true, cmp.Or(r.OutputBytes, int(size))
	}
}

// Shorten shortens a text for the model that is not a result. It returns a short text
// unchanged, and a long one in the form of a result: head, tail and a reference.
func (o *Overflow) Shorten(ctx context.Context, session, text string) string {
	short, cut := executors.Bound(text, o.MaxChars)
	if !cut {
		return text
	}
	line, _ := o.store(ctx, session, strings.NewReader(text), int64(len(text)))
	return executors.JoinLines(short, line)
}

// Keep stores a text of any length, and returns the line that refers to it; false
// if not all of it could be kept.
func (o *Overflow) Keep(ctx context.Context, session, text string) (line string, ok bool) {
	if most := o.Config.MaxOverflowBytes; most > 0 && int64(len(text)) > most {
		return "", false
	}
	return o.store(ctx, session, strings.NewReader(text), int64(len(text)))
}

// equalsFull reports whether a text equals full, apart from a final newline.
func equalsFull(text string, full *executors.Spool) bool {
	if size := full.Size(); size < int64(len(text)) || size > int64(len(text))+2 {
		return size == 0
	}
	all, err := io.ReadAll(full.Reader())
	return err == nil && strings.TrimRight(string(all), "\r\n") == strings.TrimRight(text, "\r\n")
}

// addReference adds the line about the full text to the notes of a result: on the line of
// the filter, if it removed lines.
func addReference(res *executors.Result, line string) {
	if last := len(res.Notes) - 1; last >= 0 && res.Output != nil && res.Output.Filtered {
		res.Notes[last] += " " + line
		return
	}
	res.Below(line)
}

// open yields a kept text in pieces.
func (o *Overflow) open(ctx context.Context, session, id string) iter.Seq2[[]byte, error] {
	if o.Store == nil || o.Memory.has(session, id) {
		return o.Memory.Overflow(ctx, session, id)
	}
	return o.Store.Overflow(ctx, session, id)
}

// putText stores a text in the first store that can keep it.
func (o *Overflow) putText(ctx context.Context, session, id string, r func() io.Reader) (where location, err error) {
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
