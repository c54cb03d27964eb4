package executors

import (
	"encoding/json"
	"unicode/utf8"
)

// maxShown is the longest string of an input that is shown, in bytes: together
// with the diff of the same content a frame must stay under 1 MiB.
const maxShown = 64 << 10

// ShownInput is the call's input for people: as it is, but with long strings
// cut. It is nil for an input that is too large even so.
func (c *Call) ShownInput() json.RawMessage {
	if len(c.Input) <= maxShown {
		return c.Input
	}
	var v any
	if json.Unmarshal(c.Input, &v) != nil {
		return nil
	}
	out, err := json.Marshal(shorten(v))
	if err != nil || len(out) > 4*maxShown {
		return nil
	}
	return out
}

func shorten(v any) any {
	switch v := v.(type) {
	case string:
		return Shown(v)
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k])
		}
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	}
	return v
}

// Shown is a text for people, such as a title: as it is, or cut if it is long.
func Shown(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
