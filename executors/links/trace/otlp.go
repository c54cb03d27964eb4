package trace

import (
	"encoding/hex"
	"encoding/json"
	"log/slog"

	"github.com/zeph-acp/zeph-acp/executors/links/trace/otlp"
)

// The types of an ExportTraceServiceRequest in JSON; ids are hexadecimal.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   otlp.Resource `json:"resource"`
		ScopeSpans []scopeSpans  `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope otlp.Scope `json:"scope"`
		Spans []span     `json:"spans"`
	}
	span struct {
		Trace      string           `json:"traceId"`
		ID         string           `json:"spanId"`
		State      string           `json:"traceState,omitempty"`
		Parent     string           `json:"parentSpanId,omitempty"`
		Flags      uint32           `json:"flags"`
		Name       string           `json:"name"`
		Kind       Kind             `json:"kind"`
		Began      string           `json:"startTimeUnixNano"`
		Ended      string           `json:"endTimeUnixNano"`
		Attributes []otlp.Attribute `json:"attributes,omitempty"`
		Status     status           `json:"status"`
	}
	status struct {
		Code int `json:"code,omitempty"`
	}
)

const statusError = 2

// encode returns a request with the spans of a batch.
func encode(product Product, resource []slog.Attr, batch []*Span) ([]byte, error) {
	spans := make([]span, len(batch))
	for i, s := range batch {
		spans[i] = s.encode()
	}
	return json.Marshal(request{[]resourceSpans{{
		Resource:   otlp.Resource{Attributes: attributes(resource)},
		ScopeSpans: []scopeSpans{{otlp.Scope(product), spans}},
	}}})
}

// encode returns the form of an ended span.
func (s *Span) encode() span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := span{
		Trace: hex.EncodeToString(s.id.trace[:]), ID: hex.EncodeToString(s.id.span[:]), State: s.id.state, Flags: 1,
		Name: s.name, Kind: s.kind, Began: otlp.Time(s.began), Ended: otlp.Time(s.ended), Attributes: attributes(s.attrs),
	}
	if s.parent != [8]byte{} {
		out.Parent = hex.EncodeToString(s.parent[:])
	}
	if s.failure != "" {
		out.Status.Code = statusError
		out.Attributes = append(out.Attributes, attributes([]slog.Attr{slog.String("error.type", s.failure)})...)
	}
	return out
}

func attributes(attrs []slog.Attr) []otlp.Attribute {
	var out []otlp.Attribute
	for _, a := range attrs {
		out = append(out, otlp.Attribute{Key: a.Key, Value: valueOf(a.Value)})
	}
	return out
}

func valueOf(v slog.Value) otlp.Value {
	switch v.Kind() {
	case slog.KindBool:
		return otlp.Bool(v.Bool())
	case slog.KindInt64:
		return otlp.Int(v.Int64())
	}
	if list, ok := v.Any().([]string); ok {
		return otlp.Strings(list)
	}
	return otlp.String(v.String())
}
