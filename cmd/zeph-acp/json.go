package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// writeJSON writes a value as indented JSON without terminal control characters.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(jsonOutput{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// jsonOutput writes JSON without terminal control characters: encoding/json escapes
// only some of them. A Write must not end inside a rune.
type jsonOutput struct{ w io.Writer }

func (o jsonOutput) Write(p []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(p) {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	if _, err := io.WriteString(o.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
