package acp

import "encoding/json"

// Trace names the client's span that a prompt belongs to, as W3C Trace Context writes it,
// unchecked: https://agentclientprotocol.com/protocol/v1/extensibility#the-meta-field
type Trace struct {
	Parent string // traceparent; empty without a span
	State  string // tracestate
}

// traceOf reads _meta. A mistake in it never fails a request.
func traceOf(meta []byte) (t Trace) {
	if len(meta) == 0 {
		return t
	}
	_ = json.Unmarshal(member(meta, "traceparent"), &t.Parent) // otherwise it stays empty
	_ = json.Unmarshal(member(meta, "tracestate"), &t.State)
	return t
}
