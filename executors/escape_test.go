package executors

import (
	"encoding/json"
	"testing"
	"unicode"
)

func TestEscapeJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"plain ä €"`:                 `"plain ä €"`,
		"\"\u202etxt.exe\"":           `"\u202etxt.exe"`,
		"\"a\u200bb\"":                `"a\u200bb"`,
		"\"rm\U000E0020\U000E0041x\"": `"rm\udb40\udc20\udb40\udc41x"`, // invisible tags
		"\"\U0001F600\"":              "\"\U0001F600\"",
	} {
		got := EscapeJSON(text, func(r rune) bool { return unicode.Is(unicode.Cf, r) })
		if got != want {
			t.Errorf("%+q: got %s, want %s", text, got, want)
		}
		var before, after string
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &after); err != nil || after != before {
			t.Errorf("%s is %+q, not %+q: %v", got, after, before, err)
		}
	}
}
