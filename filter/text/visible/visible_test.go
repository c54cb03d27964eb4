package visible

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// No character that clients do not show passes a line or a text: all separators but the blank, the
// default-ignorable ones, variation selectors, controls of the direction, tags.
func TestEveryHiddenCharacter(t *testing.T) {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		hidden := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.White_Space) || r >= 0xe0000 && r <= 0xe0fff
		if !hidden || r == ' ' {
			continue
		}
		n++
		for name, show := range map[string]func(string) string{"Line": Line, "Text": Text} {
			got := show("a" + string(r) + "b")
			if r == '\n' || r == '\t' {
				continue
			}
			if want := fmt.Sprintf("a<U+%04X>b", r); got != want {
				t.Errorf("%s of U+%04X: %q, want %q", name, r, got, want)
			}
		}
	}
	if n < 4000 {
		t.Errorf("%d characters were tried", n)
	}
}

func TestLineAndText(t *testing.T) {
	for _, tt := range []struct{ in, line, text string }{
		{"git status", "git status", "git status"},
		{" a\tb\n", "a b", " a\tb\n"},
		{"a\nb", "a ⏎ b", "a\nb"},
		{"a\r\nb", "a ⏎ b", "a\nb"},
		{"a\rb", "a<U+000D>b", "a<U+000D>b"},
		{"ls" + strings.Repeat(" ", 200) + "; rm x", "ls<200 blanks>; rm x", "ls<200 blanks>; rm x"},
		{"ls" + strings.Repeat(" \t", 100) + "x", "ls<200 blanks>x", "ls<200 blanks>x"},
		{"ls" + strings.Repeat("\n", 90) + "x", "ls ⏎  ⏎  ⏎ <87 more line breaks> x", "ls\n\n\n<87 more line breaks>\nx"},
		{"a   b    c", "a   b<4 blanks>c", "a   b    c"},
		{"\u0455udo id", "<U+0455>udo id", "<U+0455>udo id"},                     // Cyrillic
		{"s\u03c5do", "s<U+03C5>do", "s<U+03C5>do"},                              // Greek
		{"\uff53udo", "<U+FF53>udo", "<U+FF53>udo"},                              // full width
		{"\U0001d42cudo", "<U+1D42C>udo", "<U+1D42C>udo"},                        // mathematical
		{"файл.txt git-команда", "файл.txt git-команда", "файл.txt git-команда"}, // words of one script each
		{"café naïve 日本語git", "café naïve 日本語git", "café naïve 日本語git"},
		{"a\xffb", "a<0xFF>b", "a<0xFF>b"},
		{"\u2800\u3164\u115f\u00ad", "<U+2800><U+3164><U+115F><U+00AD>", "<U+2800><U+3164><U+115F><U+00AD>"},
		{"e\u0301 x\u200d", "e\u0301 x<U+200D>", "e\u0301 x<U+200D>"},
	} {
		if got := Line(tt.in); got != tt.line || Line(got) != got {
			t.Errorf("Line(%q) = %q, want %q; again %q", tt.in, got, tt.line, Line(got))
		}
		if got := Text(tt.in); got != tt.text || Text(got) != got {
			t.Errorf("Text(%q) = %q, want %q; again %q", tt.in, got, tt.text, Text(got))
		}
	}
	if got := strings.Join(Count("a\u202eb\u200b\u200b\u00a0c\ufe0f\n"), ", "); got != "U+202E, U+200B (2 times)" {
		t.Errorf("Count: %q", got)
	}
}
