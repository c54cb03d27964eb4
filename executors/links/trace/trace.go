// Package trace records turns, model calls and tool calls as spans of OpenTelemetry.
//
// Start with [New], which returns nil unless the environment asks for traces. A turn begins
// with [Tracer.Start]. All work below it calls [Child], which finds the turn in the context.
// [Parent] returns the headers for requests to other processes.
//
// It promises that recording never fails or delays a turn: spans wait in a bounded queue; those
// that do not fit are counted and dropped. Names and attributes follow the GenAI conventions,
// https://opentelemetry.io/docs/specs/semconv/gen-ai/. Spans do not contain the text of prompts,
// answers, arguments or outputs.
//
// Why is the span in the context, where no other data is? It belongs to all work below it, in every
// package, and decides nothing. The libraries of OpenTelemetry pass it in the same way.
//
// Why not the SDK of OpenTelemetry? It costs 2 MB and work at each start, even for users
// who send no traces. The part that we need is the JSON form of one message.
package trace

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Kind is the kind of a span, as in the protocol.
type Kind int

// The kinds.
const (
	Internal Kind = 1
	Client   Kind = 3 // a request to another process
)

// Tracer begins traces. A nil Tracer records nothing.
type Tracer struct {
	sampler sampler
	export  *exporter
	now     func() time.Time
	random  func([]byte)
}

// Span is one recorded operation. A nil Span records nothing.
type Span struct {
	tracer  *Tracer
	id      identity
	parent  [8]byte // zero for the first span of a trace
	name    string
	kind    Kind
	began   time.Time
	ended   time.Time
	failure string

	mu    sync.Mutex
	attrs []slog.Attr
	done  bool
}

type spanKey struct{}

// Start begins the span of a turn: below the span of the context if there is one, else below the caller's.
func (t *Tracer) Start(ctx context.Context, caller Remote, name string, attrs ...slog.Attr) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	if parent, ok := ctx.Value(spanKey{}).(*Span); ok {
		return parent.child(ctx, name, Internal, attrs)
	}
	remote := caller.identity()
	id := remote
	if id.trace == ([16]byte{}) {
		t.random(id.trace[:])
	}
	id.sampled = t.sampler.sample(id.trace, remote)
	return t.begin(ctx, id, remote.span, name, Internal, attrs)
}

// Child begins a span below the context's span. It returns nil if the context has no span.
func Child(ctx context.Context, name string, kind Kind, attrs ...slog.Attr) (context.Context, *Span) {
	parent, ok := ctx.Value(spanKey{}).(*Span)
	if !ok {
		return ctx, nil
	}
	return parent.child(ctx, name, kind, attrs)
}

func (s *Span) child(ctx context.Context, name string, kind Kind, attrs []slog.Attr) (context.Context, *Span) {
	return s.tracer.begin(ctx, s.id, s.id.span, name, kind, attrs)
}

func (t *Tracer) begin(ctx context.Context, id identity, parent [8]byte, name string, kind Kind,
	attrs []slog.Attr) (context.Context, *Span) {
	t.random(id.span[:])
	s := &Span{tracer: t, id: id, parent: parent, name: name, kind: kind, began: t.now(), attrs: attrs}
	return context.WithValue(ctx, spanKey{}, s), s
}

// Set adds attributes. Values are strings, integers, booleans, or slices of strings.
func (s *Span) Set(attrs ...slog.Attr) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attrs = append(s.attrs[:len(s.attrs):len(s.attrs)], attrs...)
}

// End ends the span and queues it. A failure is a class of errors of few values, such as
// "timeout"; empty means success. Only the first call has an effect.
func (s *Span) End(failure string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	if s.done {
		s.mu.Unlock()
		return
	}
	s.done, s.ended, s.failure = true, s.tracer.now(), failure
	s.mu.Unlock()
	if s.id.sampled {
		s.tracer.export.add(s)
	}
}

// Close sends the spans that wait, for at most two seconds.
func (t *Tracer) Close() {
	if t != nil {
		t.export.close()
	}
}
