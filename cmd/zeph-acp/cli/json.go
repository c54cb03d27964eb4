package cli

import (
	"encoding/json"
	"io"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
)

// WriteJSON writes a value as indented JSON without terminal control characters.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(JSONWriter{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// JSONWriter writes JSON without terminal control characters: encoding/json escapes
// only some of them. A Write must not end inside a rune.
type JSONWriter struct{ W io.Writer }

func (o JSONWriter) Write(p []byte) (int, error) {
	text := executors.EscapeJSON(string(p), func(r rune) bool {
		return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
	if _, err := io.WriteString(o.W, text); err != nil {
		return 0, err
	}
	return len(p), nil
}
