package wildcard

import (
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"go *", "go test ./...", true},
		{"go *", "GO test", true},
		{"go *", "go", false},
		{"/w/*", "/w/a/b\nc", true},
		{"/w/**/c", "/w/a/b/c", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[x", "[x", true},
		{"a.c", "abc", false},
		{"*/caf\u00e9", "/w/cafe\u0301", true},
		{"*/cafe\u0301", "/w/caf\u00e9", true},
		{"*/cafe\u0301", "/w/cafe", false},
	} {
		re, err := Compile(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if re.MatchString(tt.text) != tt.want {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.text, !tt.want)
		}
	}
	for _, wrong := range []string{"[z-a]", strings.Repeat("x", maxPattern+1)} {
		if _, err := Compile(wrong); err == nil {
			t.Errorf("%.10q compiles", wrong)
		}
	}
}
