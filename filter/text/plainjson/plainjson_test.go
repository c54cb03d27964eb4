package plainjson

import (
	"encoding/json"
	"testing"
)

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		`{"b": 1.0, "a": "<\u0026>"}`:       `{"a":"<&>","b":1.0}`,
		`[1e400, 12345678901234567890] `:    `[1e400,12345678901234567890]`,
		`{"a":1} {"b":2}`:                   `{"a":1} {"b":2}`,
		`{"a":`:                             `{"a":`,
		``:                                  ``,
		`null`:                              `null`,
		"\"\\u2028\\u007f\"":                "\"\\u2028\u007f\"",
		`{"a":{"d":[],"c":{}},"a":{"e":1}}`: `{"a":{"e":1}}`,
	} {
		if got := string(Canonical([]byte(text))); got != want {
			t.Errorf("Canonical(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestMarshal(t *testing.T) {
	got, err := Marshal(map[string]any{"a": "<b>", "raw": json.RawMessage(`"&"`)})
	if want := `{"a":"<b>","raw":"&"}`; err != nil || string(got) != want {
		t.Errorf("Marshal: got %s, %v, want %s", got, err, want)
	}
	if _, err := Marshal(func() {}); err == nil {
		t.Error("Marshal of a function: no error")
	}
}
