package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// A session's scanner masks a value that it found by its name wherever it comes later, also cut
// off, and the lines of a private key one by one.
func TestSessionLearns(t *testing.T) {
	const value = "hV7tZq9LmX2nRc8WbYk4JpDs6GfTu3EaQoNi5KxH"
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAvQ7mZr2XkT9sLp4H", 2) + "\n-----END RSA " + "PRIVATE KEY-----"
	own := (&Scanner{}).Session()
	for _, text := range []string{"aws_secret_access_key = " + value, key} {
		if masked := own.Text(text); masked == text {
			t.Fatalf("not found: %s", text)
		}
	}
	for in, want := range map[string]string{
		"got " + value:            "got [REDACTED:aws key]",
		"got " + value[:30] + "…": "got [REDACTED:aws key]…",
		"line 21: " + strings.Repeat("MIIEowIBAAKCAQEAvQ7mZr2XkT9sLp4H", 2) + ": command not found": "line 21: [REDACTED:private key]: command not found",
		"got " + value[:15]: "got " + value[:15],
	} {
		if got := own.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
		if got := (&Scanner{}).Session().Text("x " + in); got != "x "+in {
			t.Errorf("another session has learned %q: %q", in, got)
		}
	}
}

// A text that was masked before is scanned again once a new value was learned.
func TestSessionLearnsAfterMasking(t *testing.T) {
	own := (&Scanner{}).Session()
	text := strings.Repeat("x ", leastRemembered) + "plain-saved-words"
	if got := own.Text(text); got != text {
		t.Fatalf("got %q", got)
	}
	own.Learn("plain-saved-words")
	if got := own.Text(text); strings.Contains(got, "saved") {
		t.Errorf("got %q", got)
	}
}

// The members of a JSON document are masked by their texts and by their names, and the rest of the
// document stays.
func TestJSON(t *testing.T) {
	const secret = "hV7tZq9LmX2nRc8W"
	long := strings.Repeat("text ", longMember)
	for in, want := range map[string]string{
		`{"b":1.50,"a":"x<&>"}`:                                 `{"b":1.50,"a":"x<&>"}`,
		`{"password":"` + secret + `","n":1.50}`:                `{"n":1.50,"password":"[REDACTED]"}`,
		`{"env":[{"name":"A_TOKEN","value":"` + secret + `"}]}`: `{"env":[{"name":"A_TOKEN","value":"[REDACTED]"}]}`,
		`{"args":["--password","` + secret + `"]}`:              `{"args":["--password","[REDACTED]"]}`,
		`{"content":"` + long + `","token":"` + secret + `"}`:   `{"content":"` + long + `","token":"[REDACTED]"}`,
		`{"content":"a\nDB_PASSWORD=` + secret + `\nb"}`:        `{"content":"a\nDB_PASSWORD=[REDACTED]\nb"}`,
		`{"content":"` + long + `DB_PASSWORD=` + secret + `"}`:  `{"content":"` + long + `DB_PASSWORD=[REDACTED]"}`,
		`not JSON, password=` + secret:                          `"not JSON, password=[REDACTED]"`,
		`null`:                                                  `null`,
	} {
		got := string((&Scanner{}).Session().JSON(json.RawMessage(in)))
		if got != want {
			t.Errorf("JSON(%.200s)\n got %.200s\nwant %.200s", in, got, want)
		}
		if again := string((&Scanner{}).JSON(json.RawMessage(got))); again != got {
			t.Errorf("masked again: %.200s", again)
		}
	}
}

// The lines of a key are masked as they come.
func TestLines(t *testing.T) {
	mask := (&Scanner{}).Lines()
	got := ""
	for line := range strings.SplitSeq("a\n-----BEGIN RSA "+"PRIVATE KEY-----\n"+strings.Repeat("MIIEowIBAAKCAQEAvQ7mZr2XkT9sLp4H", 2)+"\nb", "\n") {
		got += mask(line) + "|"
	}
	if want := "a|-----BEGIN RSA " + "PRIVATE KEY-----|[REDACTED:private key]|b|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
