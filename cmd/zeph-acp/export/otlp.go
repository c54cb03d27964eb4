package export

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/executors/links/trace/otlp"
)

// maxBatch is the number of records of one request.
const maxBatch = 256

// maxAttribute bounds the texts of a record, in characters.
const maxAttribute = 4096

// OTLP writes entries as ExportLogsServiceRequest messages, one JSON object per line, as
// collectors read them from files. 64-bit integers are strings, as the JSON mapping of
// Protocol Buffers requires:
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
type OTLP struct {
	Product Product
	Mask    func(string) string // redacts secrets; nil redacts none

	batch []record
}

type (
	request struct {
		ResourceLogs []resourceLogs `json:"resourceLogs"`
	}
	resourceLogs struct {
		Resource  otlp.Resource `json:"resource"`
		ScopeLogs []scopeLogs   `json:"scopeLogs"`
	}
	scopeLogs struct {
		Scope      otlp.Scope `json:"scope"`
		LogRecords []record   `json:"logRecords"`
	}
	record struct {
		TimeUnixNano         string           `json:"timeUnixNano"`
		ObservedTimeUnixNano string           `json:"observedTimeUnixNano"`
		SeverityNumber       int              `json:"severityNumber"`
		SeverityText         string           `json:"severityText"`
		EventName            string           `json:"eventName"`
		Body                 otlp.Value       `json:"body"`
		Attributes           []otlp.Attribute `json:"attributes"`
	}
)

// Add adds an entry, and writes a request if there are enough of them.
func (o *OTLP) Add(w io.Writer, e *audit.Entry) error {
	o.batch = append(o.batch, o.record(e))
	if len(o.batch) < maxBatch {
		return nil
	}
	return o.Flush(w)
}

// Flush writes the entries that were added since the last request.
func (o *OTLP) Flush(w io.Writer) error {
	if len(o.batch) == 0 {
		return nil
	}
	r := request{[]resourceLogs{{
		Resource: otlp.Resource{Attributes: []otlp.Attribute{
			{Key: "service.name", Value: otlp.String(o.Product.Name)}, {Key: "service.version", Value: otlp.String(o.Product.Version)},
		}},
		ScopeLogs: []scopeLogs{{
			Scope: otlp.Scope{Name: o.Product.Name + "/audit", Version: o.Product.Version}, LogRecords: o.batch,
		}},
	}}}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	o.batch = nil
	return enc.Encode(r)
}

// record returns the log record of an entry.
func (o *OTLP) record(e *audit.Entry) record {
	t := texts{o.Mask}
	at := otlp.Time(e.When())
	s := severityOf(e)
	r := record{
		TimeUnixNano: at, ObservedTimeUnixNano: at, SeverityNumber: s.number, SeverityText: s.text,
		EventName: "zeph.tool_call", Body: otlp.String(t.bounded(e.Tool+": "+summary.Subject(e), maxAttribute)),
	}
	add := func(key, s string) {
		if s != "" {
			r.Attributes = append(r.Attributes, otlp.Attribute{Key: key, Value: otlp.String(t.bounded(s, maxAttribute))})
		}
	}
	count := func(key string, n int64) {
		r.Attributes = append(r.Attributes, otlp.Attribute{Key: key, Value: otlp.Int(n)})
	}
	for _, a := range []struct{ key, text string }{
		{"zeph.tool_call_id", e.ID},
		{"zeph.tool", e.Tool},
		{"session.id", e.Session},
		{"zeph.caller_id", e.Caller},
		{"zeph.origin", e.Origin},
		{"zeph.phase", e.Phase},
		{"zeph.decision", e.Decision},
		{"zeph.rule", e.Rule},
		{"zeph.answer", e.Answer},
		{"zeph.reason", e.Reason},
		{"zeph.policy_match", e.PolicyMatch},
		{"zeph.adversarial_policy_decision", e.Adversarial},
		{"zeph.gates", gates(e)},
		{"zeph.hooks", hooks(e)},
		{"zeph.trust", e.Trust},
		{"zeph.claim_source", e.ClaimSource},
		{"zeph.mcp_server", e.MCPServer},
		{"zeph.result", string(e.Result)},
		{"error.type", string(e.Category)},
		{"error.message", e.Error},
		{"process.command_line", e.Command},
		{"url.full", e.URL},
	} {
		add(a.key, a.text)
	}
	if len(e.Paths) > 0 {
		add("file.path", e.Paths[0])
	}
	if e.ExitCode != nil {
		count("process.exit.code", int64(*e.ExitCode))
	}
	count("zeph.duration_ms", e.DurationMS)
	if e.WaitedMS > 0 {
		count("zeph.waited_ms", e.WaitedMS)
	}
	add("zeph.filters", strings.Join(e.Filters, " "))
	r.Attributes = append(r.Attributes, otlp.Attribute{Key: "zeph.truncated", Value: otlp.Bool(e.Truncated)})
	return r
}
