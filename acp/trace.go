package acp

import (
	"context"
	"encoding/json"
)

// Trace names the client's span that a prompt belongs to, as W3C Trace Context writes it,
// unchecked: https://agentclientprotocol.com/protocol/v1/extensibility#the-meta-field
type Trace struct {
	Parent string // traceparent; empty without a span
	State  string // tracestate
}

type traceKey struct{}

// traceOf reads _meta. A mistake in it never fails a request.
func traceOf(meta []byte) (t Trace) {
	if len(meta) == 0 {
		return t
	}
	_ = json.Unmarshal(member(meta, "traceparent"), &t.Parent) // otherwise it stays empty
	_ = json.Unmarshal(member(meta, "tracestate"), &t.State)
	return t
}

// join adds the trace to the context of a turn.
func (t Trace) join(ctx context.Context) context.Context {
	if t.Parent == "" {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace that the prompt of a turn's context belongs to.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
