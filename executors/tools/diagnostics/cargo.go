package diagnostics

import (
	"encoding/json"
	"strings"
)

// cargoMessage is a line of cargo's JSON:
// https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages
type cargoMessage struct {
	Reason  string   `json:"reason"`
	Message struct { // https://doc.rust-lang.org/rustc/json.html
		Message string `json:"message"`
		Level   string `json:"level"`
		Code    *struct {
			Code string `json:"code"`
		} `json:"code"`
		Spans []rustSpan `json:"spans"`
	} `json:"message"`
}

type rustSpan struct {
	File      string `json:"file_name"`
	Line      int    `json:"line_start"`
	Column    int    `json:"column_start"`
	Primary   bool   `json:"is_primary"`
	Label     string `json:"label"`
	Expansion *struct {
		Span rustSpan `json:"span"`
	} `json:"expansion"`
}

// parseCargo parses the output of cargo check and cargo clippy with
// --message-format=json.
func parseCargo(stdout, _ string) []Diagnostic {
	var found []Diagnostic
	for line := range strings.Lines(stdout) {
		var m cargoMessage
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &m) != nil || m.Reason != "compiler-message" {
			continue
		}
		d := Diagnostic{Severity: severity(m.Message.Level), Message: m.Message.Message}
		if m.Message.Code != nil {
			d.Code = m.Message.Code.Code
		}
		if len(m.Message.Spans) == 0 && rustSummary(m.Message.Level, d.Message) {
			continue
		}
		if s, ok := primary(m.Message.Spans); ok {
			d.File, d.Line, d.Column = s.File, s.Line, s.Column
			if s.Label != "" && !strings.HasPrefix(s.Label, "not found in ") && !strings.Contains(d.Message, s.Label) {
				d.Message += " (" + s.Label + ")"
			}
		}
		found = append(found, d)
	}
	return found
}

// rustSummary reports whether a message without a location only counts other ones.
func rustSummary(level, message string) bool {
	return message == "" || level == "failure-note" || strings.HasPrefix(message, "aborting due to ") ||
		strings.HasSuffix(message, " emitted")
}

// primary returns the location of a message. If that lies in a macro of the
// standard library, it returns the location where the macro is used.
func primary(spans []rustSpan) (rustSpan, bool) {
	if len(spans) == 0 {
		return rustSpan{}, false
	}
	s := spans[0]
	for _, other := range spans {
		if other.Primary {
			s = other
			break
		}
	}
	label := s.Label
	for s.Expansion != nil && (strings.HasPrefix(s.File, "/rustc/") || strings.HasPrefix(s.File, "<")) {
		s = s.Expansion.Span
	}
	s.Label = label
	return s, true
}
