package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// callInput is the input of a call as the API wants it back: an object.
func InputObject(input json.RawMessage) json.RawMessage {
	switch {
	case len(input) == 0:
		return json.RawMessage("{}")
	case json.Valid(input) && IsObject(input):
		return input
	}
	var text string
	if json.Unmarshal(input, &text) != nil {
		text = string(input)
	}
	return ObjectOf("not_an_object", text)
}

// wireName replaces what the API refuses in a tool's name or a call's ID.
func SafeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "_"
	}
	return s[:min(len(s), 128)]
}

// isObject reports whether valid JSON is an object.
func IsObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// object makes a JSON object with one string member, readable: no HTML escapes.
func ObjectOf(name, value string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{name: value}); err != nil {
		panic(err) // strings always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
