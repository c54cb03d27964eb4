package linemark

import (
	"fmt"
	"strings"
	"testing"
)

// page returns the lines of a text from one on as a model reads them.
func page(text string, from int) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n >= from {
			b.WriteString(Mark(n, n == from) + line)
		}
	}
	return b.String()
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\tline %d;\n", i+1)
	}
	return b.String()
}

func TestMark(t *testing.T) {
	for _, tt := range []struct {
		n     int
		first bool
		want  string
	}{
		{1, true, ""}, {2, true, "[line 2]\n"}, {2, false, ""}, {10, false, "[line 10]\n"}, {10, true, "[line 10]\n"}, {11, false, ""}, {740, true, "[line 740]\n"},
	} {
		if got := Mark(tt.n, tt.first); got != tt.want {
			t.Errorf("Mark(%d, %v) = %q, want %q", tt.n, tt.first, got, tt.want)
		}
	}
}

func TestStrip(t *testing.T) {
	for n := range 45 {
		text := lines(n)
		if got := StripWhole(page(text, 1)); got != text {
			t.Errorf("%d lines: %q", n, got)
		}
		if got := Strip(page(text, 7)); n >= 7 && got != page(text, 7)[len("[line 7]\n"):] && !strings.HasSuffix(text, got) {
			t.Errorf("%d lines from the seventh on: %q", n, got)
		}
	}
	for text, want := range map[string]string{
		"a\n[line 10]\nb":       "a\nb",
		"[line 10]\nb\n":        "b\n",
		"a\n[line 10]":          "a",
		"a\n[line 10]\n":        "a\n",
		"a [line 10]\n":         "a [line 10]\n",
		"[line 10] a\n[line]\n": "[line 10] a\n[line]\n",
		"  [line 10]\n":         "  [line 10]\n",
	} {
		if got := Strip(text); got != want {
			t.Errorf("Strip(%q) = %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"a\n[line 10]\nb\n", // at another place
		strings.Replace(page(lines(25), 1), "20]", "21]", 1), // another number
		strings.Replace(page(lines(25), 1), "[line 20]\n", "", 1),
		lines(25),
		"",
	} {
		if got := StripWhole(text); got != text {
			t.Errorf("StripWhole(%q) = %q", text, got)
		}
	}
}
