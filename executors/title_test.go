package executors

import "testing"

func TestTitles(t *testing.T) {
	for in, want := range map[string]struct{ quoted, titled string }{
		"main.go":      {"`main.go`", "main.go"},
		"**/*.go":      {"`**/*.go`", "**/*.go"},
		"a: b":         {"`a: b`", "`a: b`"},
		"echo `date`":  {"`` echo `date` ``", "`` echo `date` ``"},
		"`a`":          {"`` `a` ``", "`` `a` ``"},
		"echo ``x`` y": {"```echo ``x`` y```", "```echo ``x`` y```"},
	} {
		if got := Quoted(in); got != want.quoted {
			t.Errorf("Quoted(%q) = %q, want %q", in, got, want.quoted)
		}
		if got := Titled(in); got != want.titled {
			t.Errorf("Titled(%q) = %q, want %q", in, got, want.titled)
		}
	}
}

func TestWholeLine(t *testing.T) {
	for in, want := range map[string]string{
		" a\tb\r\nc\n":          "a b ⏎ c",
		"rm\x1b[8m -rf\x1b[0m":  "rm<U+001B>[8m -rf<U+001B>[0m",
		"a\rb\u202ec":           "a<U+000D>b<U+202E>c",
		"r\u200bm\u2028x":       "r<U+200B>m<U+2028>x",
		"a\u3164b\u2800c\u115f": "a<U+3164>b<U+2800>c<U+115F>",
		"한글 é ⚠":                "한글 é ⚠",
		"⚠\ufe0f x\u00a0y":      "⚠<U+FE0F> x<U+00A0>y",
		"\u0455udo" + "     x":  "<U+0455>udo<5 blanks>x",
	} {
		if got := WholeLine(in); got != want {
			t.Errorf("WholeLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a b":            "a b",
		"é.go":           "é.go",
		"a\nb":           `"a\nb"`,
		"a\u202egpj.exe": `"a\u202egpj.exe"`,
		"a\u3164b":       `"a\u3164b"`,
		"a\xff":          `"a\xff"`,
	} {
		if got := OneLine(in); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
}
