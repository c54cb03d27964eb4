package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// thought begins the names of members in which a model thinks aloud. Their
// content is nobody's business.
const thought = "_tafc_think"

// maxInput bounds the whole input, in bytes.
const maxInput = 16 << 10

// input is a call's input as the log has it: without thoughts, masked, with long
// strings cut. Where that is not possible it is a string that says so: what is
// no JSON cannot be searched for thoughts.
func (l *Log) input(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // as it was written
	if err := dec.Decode(&v); err != nil || dec.More() {
		return note("not JSON", len(raw))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l.clean(v)); err != nil || b.Len() > maxInput {
		return note("left out", len(raw))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func note(what string, size int) json.RawMessage {
	return fmt.Appendf(nil, `"… (%s, %d bytes)"`, what, size)
}

func (l *Log) clean(v any) any {
	switch v := v.(type) {
	case string:
		return l.text(v, maxText)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			if !strings.HasPrefix(k, thought) {
				out[l.text(k, maxName)] = l.clean(member)
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = l.clean(v[i])
		}
	}
	return v
}

// A text much longer than what is kept of it is cut before it is masked, too;
// then a secret may have been cut, which nothing would recognize, so as much as
// the longest one is dropped.
const (
	maxMasked = 128 << 10
	maxSecret = 8 << 10
)

// text masks and bounds a text.
func (l *Log) text(s string, limit int) string {
	size := len(s)
	if l.mask != nil && size <= maxMasked {
		s = l.mask(s)
		size = len(s)
	} else if l.mask != nil {
		s = l.mask(s[:maxMasked])
		s = s[:max(len(s)-maxSecret, 0)]
	}
	return bounded(s, limit, size)
}

// cut bounds a text.
func cut(s string, limit int) string { return bounded(s, limit, len(s)) }

// bounded bounds a text that is what is left of size bytes, and says so.
func bounded(s string, limit, size int) string {
	limit = min(limit, len(s))
	if limit == size {
		return s
	}
	for limit > 0 && limit < len(s) && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:limit], size)
}
