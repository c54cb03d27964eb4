package trace

import (
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"
)

// The JSON form of an ExportTraceServiceRequest. 64-bit integers are strings, and ids are
// hexadecimal digits: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	span struct {
		Trace      string      `json:"traceId"`
		ID         string      `json:"spanId"`
		State      string      `json:"traceState,omitempty"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Flags      uint32      `json:"flags"`
		Name       string      `json:"name"`
		Kind       Kind        `json:"kind"`
		Began      string      `json:"startTimeUnixNano"`
		Ended      string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     status      `json:"status"`
	}
	status struct {
		Code int `json:"code,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	// value is an AnyValue: exactly one field is set.
	value struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"`
		Bool   *bool   `json:"boolValue,omitempty"`
		Array  *array  `json:"arrayValue,omitempty"`
	}
	array struct {
		Values []value `json:"values"`
	}
)

const statusError = 2

// encode returns a request with the spans of a batch.
func encode(product Product, of []slog.Attr, batch []*Span) ([]byte, error) {
	spans := make([]span, len(batch))
	for i, s := range batch {
		spans[i] = s.encode()
	}
	return json.Marshal(request{[]resourceSpans{{
		Resource:   resource{attributes(of)},
		ScopeSpans: []scopeSpans{{scope(product), spans}},
	}}})
}

// encode returns the form of an ended span.
func (s *Span) encode() span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := span{
		Trace: hex.EncodeToString(s.id.trace[:]), ID: hex.EncodeToString(s.id.span[:]), State: s.id.state, Flags: 1,
		Name: s.name, Kind: s.kind, Began: nanoseconds(s.began), Ended: nanoseconds(s.ended), Attributes: attributes(s.attrs),
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

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributes(attrs []slog.Attr) []attribute {
	var out []attribute
	for _, a := range attrs {
		out = append(out, attribute{a.Key, valueOf(a.Value)})
	}
	return out
}

func valueOf(v slog.Value) value {
	switch v.Kind() {
	case slog.KindBool:
		b := v.Bool()
		return value{Bool: &b}
	case slog.KindInt64:
		digits := strconv.FormatInt(v.Int64(), 10)
		return value{Int: &digits}
	}
	if texts, ok := v.Any().([]string); ok {
		list := &array{}
		for _, text := range texts {
			list.Values = append(list.Values, value{String: &text})
		}
		return value{Array: list}
	}
	text := v.String()
	return value{String: &text}
}
