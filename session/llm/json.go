package llm

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// InputObject returns the input of a call as providers want it back: an object. Any
// other input becomes the object's one member.
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

// SafeName replaces the characters that APIs refuse in the name of a tool or the ID of
// a call. The result has 1 to 128 letters, digits, "_" and "-".
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

// IsObject reports whether valid JSON is an object.
func IsObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// ObjectOf returns a JSON object with one string member, without HTML escapes.
func ObjectOf(name, value string) json.RawMessage {
	return plainjson.MustMarshal(map[string]string{name: value})
}
