package layout

import (
	"strings"
	"testing"
)

func lines(wrapped [][]Span) string {
	var all []string
	for _, l := range wrapped {
		var b strings.Builder
		for _, s := range l {
			if s.Style != "" {
				b.WriteString("<" + s.Style + ">")
			}
			b.WriteString(s.Text)
		}
		all = append(all, b.String())
	}
	return strings.Join(all, "|")
}

func TestWrap(t *testing.T) {
	for name, tt := range map[string]struct {
		line    []Span
		columns int
		want    string
	}{
		"empty":              {nil, 5, ""},
		"fits":               {[]Span{{Text: "one two"}}, 7, "one two"},
		"words":              {[]Span{{Text: "one two three"}}, 8, "one two|three"},
		"spaces":             {[]Span{{Text: "a  b   c"}}, 4, "a  b|c"},
		"spaces at the end":  {[]Span{{Text: "one two    "}}, 7, "one two"},
		"indented":           {[]Span{{Text: "  one two"}}, 6, "  one|two"},
		"only spaces":        {[]Span{{Text: "   "}}, 2, ""},
		"long word":          {[]Span{{Text: "a longest b"}}, 4, "a|long|est|b"},
		"indented long word": {[]Span{{Text: "  longest"}}, 5, "  lon|gest"},
		"wide":               {[]Span{{Text: "漢字かな交じり文"}}, 5, "漢字|かな|交じ|り文"},
		"wide and narrow":    {[]Span{{Text: "ab漢字cd ef"}}, 6, "ab漢字|cd ef"},
		"combining":          {[]Span{{Text: "e\u0301e\u0301e\u0301"}}, 2, "e\u0301e\u0301|e\u0301"},
		"emoji":              {[]Span{{Text: "a 🎉🎉"}}, 4, "a 🎉|🎉"},
		"styles":             {[]Span{{Text: "one "}, {"two", "1"}, {Text: ", three"}}, 8, "one <1>two,|three"},
		"a word of styles":   {[]Span{{Text: "x ab"}, {"cd", "1"}, {Text: "ef gh"}}, 6, "x|ab<1>cdef|gh"},
		"a column too few":   {[]Span{{Text: "漢a"}}, 1, "漢|a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(Wrap(tt.line, tt.columns)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestExpandTabs(t *testing.T) {
	for in, want := range map[string]string{
		"a":             "a",
		"\ta":           "        a",
		"ab\tc":         "ab      c",
		"漢字\tc":         "漢字    c",
		"1234567\t|\t|": "1234567 |       |",
	} {
		if got := ExpandTabs(in); got != want {
			t.Errorf("ExpandTabs(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"abcd": "abcd", "abcde": "abc…", "漢字か": "漢…", "a漢字": "a漢…"} {
		if got := Cut(in, 4); got != want {
			t.Errorf("Cut(%q) = %q, want %q", in, got, want)
		}
	}
}

// No text is lost, and no line is wider than asked for.
func FuzzWrap(f *testing.F) {
	f.Add("one  two 漢字 e\u0301", 5)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = 2 + (columns&0xff+0xff)%0xff
		var got strings.Builder
		for _, l := range Wrap([]Span{{Text: text}}, columns) {
			var b strings.Builder
			for _, s := range l {
				b.WriteString(s.Text)
			}
			if Columns(b.String()) > columns {
				t.Errorf("%q is wider than %d", b.String(), columns)
			}
			got.WriteString(b.String())
		}
		bare := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), " ", "") }
		if bare(got.String()) != bare(text) && !strings.ContainsRune(text, '\uFFFD') && strings.ToValidUTF8(text, "") == text {
			t.Errorf("the pieces of %q are together %q", text, got.String())
		}
	})
}
