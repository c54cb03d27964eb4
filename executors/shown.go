package executors

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// maxShown bounds the strings of an input that is shown, in bytes: a frame with them and
// the diff of the same content must stay under 1 MiB.
const maxShown = 64 << 10

// ShownInput returns the call's input for people, with long strings cut. It is nil
// if the input is too large even so.
func (c *Call) ShownInput() json.RawMessage {
	if len(c.Input) <= maxShown {
		return c.Input
	}
	var v any
	if json.Unmarshal(c.Input, &v) != nil {
		return nil
	}
	out, err := json.Marshal(cutStrings(v))
	if err != nil || len(out) > 4*maxShown {
		return nil
	}
	return out
}

// maxRaw bounds a raw output, in bytes of JSON, and maxItems its lists once it is
// longer.
const (
	maxRaw   = 256 << 10
	maxItems = 50
)

// ShownRaw returns a raw output of any tool for the client, with long strings and
// lists cut if it is too long. It is nil if it is too long even so.
func ShownRaw(raw any) any {
	if raw == nil {
		return nil
	}
	text, err := json.Marshal(raw)
	if err == nil && len(text) <= maxRaw {
		return raw
	}
	var v any
	if err != nil || json.Unmarshal(text, &v) != nil {
		return nil
	}
	v = cutStrings(cutLists(v))
	if text, err = json.Marshal(v); err != nil || len(text) > maxRaw {
		return nil
	}
	return v
}

// cutLists returns a JSON value with shortened lists.
func cutLists(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = cutLists(v[k])
		}
	case []any:
		v = v[:min(len(v), maxItems)]
		for i := range v {
			v[i] = cutLists(v[i])
		}
		return v
	}
	return v
}

func cutStrings(v any) any {
	switch v := v.(type) {
	case string:
		return Shown(v)
	case map[string]any:
		for k := range v {
			v[k] = cutStrings(v[k])
		}
	case []any:
		for i := range v {
			v[i] = cutStrings(v[i])
		}
	}
	return v
}

// Shown returns a text for people, such as a title, cut if it is long.
func Shown(s string) string { return line.Truncate(s, maxShown) }
