package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// thought is the prefix of the members with which a model thinks aloud. The log
// omits them.
const thought = "_tafc_think"

// maxInput is the limit of the whole input, in bytes.
const maxInput = 16 << 10

// exit masks the strings of one entry.
type exit struct{ texts.Change }

func (l *Log) exitOf(call *executors.Call) exit {
	if l.exit == nil {
		return exit{}
	}
	return exit{l.exit(call.Session)}
}

// input returns a call's input for the log: without thoughts, redacted, with
// long strings truncated. A note replaces input that is not JSON, since
// thoughts cannot be found in it.
func (m exit) input(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if m.JSON != nil && len(raw) <= maxMasked && json.Valid(raw) { // by the names of members too
		raw = m.JSON(raw)
	}
	v, err := plainjson.Decode(raw)
	if err != nil {
		return noteString("not JSON", len(raw))
	}
	cleaned, err := plainjson.Marshal(m.clean(v))
	if err != nil || len(cleaned) >= maxInput {
		return noteString("left out", len(raw))
	}
	return cleaned
}

func noteString(what string, size int) json.RawMessage {
	return fmt.Appendf(nil, `"… (%s, %s)"`, what, quantity.Count(size, "byte"))
}

// clean returns a JSON value without thoughts, redacted and with short strings.
func (m exit) clean(v any) any {
	switch v := v.(type) {
	case string:
		return m.text(v, maxText)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			if !strings.HasPrefix(k, thought) {
				out[m.text(k, maxName)] = m.clean(member)
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = m.clean(v[i])
		}
	}
	return v
}

// A text much longer than its limit is also cut before it is redacted. The cut
// may split a secret, which the redactor would then not recognise. So as many
// bytes are dropped from the end as the longest secret has.
const (
	maxMasked = 128 << 10
	maxSecret = 8 << 10
)

// text redacts and truncates a text.
func (m exit) text(s string, limit int) string {
	size := len(s)
	if m.Text != nil && size <= maxMasked {
		s = m.Text(s)
		size = len(s)
	} else if m.Text != nil {
		s = m.Text(s[:maxMasked])
		s = s[:max(len(s)-maxSecret, 0)]
	}
	return truncateTo(s, limit, size)
}

// truncate truncates a text.
func truncate(s string, limit int) string { return truncateTo(s, limit, len(s)) }

// truncateTo truncates a text to limit bytes and marks the cut. s may be the beginning of
// a longer text; size is the length of the whole text in bytes.
func truncateTo(s string, limit, size int) string {
	limit = min(limit, len(s))
	if limit == size {
		return s
	}
	for limit > 0 && limit < len(s) && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return fmt.Sprintf("%s… (%s)", s[:limit], quantity.Count(size, "byte"))
}
