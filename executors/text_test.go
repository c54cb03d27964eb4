package executors

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBound(t *testing.T) {
	numbers := strings.Repeat("0123456789\n", 100)
	for name, tt := range map[string]struct {
		text  string
		limit int
		more  bool
		want  string
	}{
		"short":       {"a\nb", 4, true, "a\nb"},
		"lines":       {numbers, 120, false, numbers[:11] + "[… 98 lines, 1,078 characters cut …]\n" + numbers[:11]},
		"more":        {numbers, 120, true, numbers[:11] + "[… more than 98 lines, 1,078 characters cut …]\n" + numbers[:11]},
		"one line":    {strings.Repeat("é", 200), 100, false, strings.Repeat("é", 10) + " […]\n[… 180 characters cut …]\n[…] " + strings.Repeat("é", 10)},
		"no room":     {numbers, 10, false, ""},
		"only a mark": {numbers, 60, false, "[… 100 lines, 1,100 characters cut …]\n"},
		"between ends": {strings.Repeat("x", 20) + "\n" + strings.Repeat("y", 60) + "\n" + strings.Repeat("z", 20), 100, false,
			strings.Repeat("x", 10) + " […]\n[… 2 lines, 82 characters cut …]\n[…] " + strings.Repeat("z", 10)},
	} {
		if got, cut := BoundPart(tt.text, tt.limit, tt.more); got != tt.want || cut != (got != tt.text) {
			t.Errorf("%s: %q, %t", name, got, cut)
		}
	}
}

func TestReplaceMiddle(t *testing.T) {
	for text, want := range map[string]string{
		"short":                                 "short",
		"a\n" + strings.Repeat("b\n", 20) + "c": "a\nb\n<middle>\nb\nc",
		strings.Repeat("a", 20):                 "aaaa […]\n<middle>\n[…] aaaa",
	} {
		if got := ReplaceMiddle(text, 8, "<middle>"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A bounded text has at most limit characters, is valid if the text is, and each of
// its ends is at the end of a line or marked. A Spool is bounded as its text is.
func FuzzBound(f *testing.F) {
	f.Add(strings.Repeat("line\n", 300), 500, false)
	f.Add(strings.Repeat("日本\r\n", 300), 200, true)
	f.Add("a\n"+strings.Repeat("é", 3000)+"\nb", 300, false)
	f.Add(strings.Repeat("\n", 500), 200, false)
	f.Add(strings.Repeat("x", 201), 200, false)
	f.Add(strings.Repeat("x", 201), 20, false)
	mark := regexp.MustCompile(`(?s)\A(.*?)( \[…\])?\n?\[… (more than )?(?:([\d,]+) lines?, )?([\d,]+) characters? cut …\]\n(\[…\] )?(.*)\z`)
	f.Fuzz(func(t *testing.T, text string, limit int, more bool) {
		if strings.Contains(text, "…") || !utf8.ValidString(text) || limit < 0 || limit > 1<<20 { // "…" looks like a mark
			return
		}
		got, cut := BoundPart(text, limit, more)
		n := utf8.RuneCountInString(text)
		if cut != (n > limit) || !cut && got != text {
			t.Fatalf("%t, %q of %q", cut, got, text)
		}
		spool, err := NewSpool(text)
		if err != nil {
			t.Fatal(err)
		}
		defer spool.Close()
		if all, cut2 := BoundReader(spool.Reader(), limit, more); all != got || cut2 != cut {
			t.Errorf("a Spool: %q, %t, want %q", all, cut2, got)
		}
		if !cut || got == "" {
			return
		}
		if utf8.RuneCountInString(got) > limit || !utf8.ValidString(got) {
			t.Errorf("%d characters over %d, or not valid: %q", utf8.RuneCountInString(got), limit, got)
		}
		m := mark.FindStringSubmatch(got)
		if m == nil || more != (m[3] != "") {
			t.Fatalf("no mark in %q", got)
		}
		head, tail := m[1], m[7]
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail) >= len(text) {
			t.Fatalf("%q and %q are not the ends of %q", head, tail, text)
		}
		missing, _ := strconv.Atoi(strings.ReplaceAll(m[5], ",", ""))
		shown := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail)
		if missing+shown != n && missing+shown+1 != n { // a newline before the mark may be the text's
			t.Errorf("%d shown and %d missing of %d", shown, missing, n)
		}
		if m[2] == "" && head != "" && text[len(head)-1] != '\n' && text[len(head)] != '\n' {
			t.Errorf("the head %q ends inside a line", head)
		}
		if m[6] == "" && tail != "" && text[len(text)-len(tail)-1] != '\n' {
			t.Errorf("the tail %q begins inside a line", tail)
		}
		if shown < (limit-markRoom)/2 {
			t.Errorf("only %d characters of %d are shown", shown, limit)
		}
	})
}
