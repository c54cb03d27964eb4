package automaton

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func compiled(t testing.TB, expr string) *Automaton {
	t.Helper()
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return New(tree.Simplify())
}

// States that would need too much memory are dropped without an effect on
// matches.
func TestStatesAreBounded(t *testing.T) {
	const expr = `(a|b|c)*a(a|b|c){14}d`
	a, re := compiled(t, expr), regexp.MustCompile(expr)
	var text []byte
	for i := range 30_000 {
		text = append(text, "abc"[(i*i/7+i/3)%3])
	}
	for n := 100; n < len(text); n += 997 {
		text := append(text[:n:n], 'd')
		if got, known := a.Match(text); known && got != re.Match(text) {
			t.Errorf("%d bytes: %t", n, got)
		}
	}
	if c := a.cache.Load(); len(c.byKey)*200 > maxStates {
		t.Errorf("got %d states, want at most %d", len(c.byKey), maxStates/200)
	}
}

// exprs are expressions whose matches depend on what is around them.
var exprs = []string{
	`[a-z]{4}[A-Z]`, `(?m)^a.b$`, `(?m)^$`, `^a`, `b$`, `\Aa|b\z`, `\bfoo\b`, `\Bx`, `(?i)straße`, `a.*b`, `(?s)a.*b`, `[^a]b`, `\d+x|\w+\s=`, `\pL\d`, `x*`,
	`(a|ab)(c|bcd)`, `\x{FFFD}`, `\xff`,
}

// An automaton agrees with package regexp, whatever the text.
func FuzzMatch(f *testing.F) {
	for _, expr := range exprs {
		for _, text := range []string{"", "\n", "a\nb\n", "xa b\nfoo\r\n", "STRASSE straſSe STRAßE", "abcdE", "a\xffb\xc3", "aéb 7x é1", "a-b\n\nab", "\ufffd",
			"foo_ foo", "abcd" + strings.Repeat("z", 100)} {
			f.Add(expr, text)
		}
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 512 {
			return
		}
		a := compiled(t, expr)
		if a == nil {
			return
		}
		if got, known := a.Match([]byte(text)); known && got != re.MatchString(text) {
			t.Errorf("%q on %q: %t", expr, text, got)
		}
	})
}

// The longest match at the start of a string is the same as in package regexp.
func TestPrefix(t *testing.T) {
	for _, expr := range []string{`a*`, `ab|abc?d`, `(?i)k[a-c]{2,4}`, `[^ ]* `, `(?:[^ ]* ){2}`, `a$`, `a\b`, `é+x?`, `x{3,}`, `()`, `a.*c`} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		a := NewPrefix(tree.Simplify())
		re := regexp.MustCompile(`\A(?:` + expr + `)`)
		re.Longest()
		for _, text := range []string{"", "a", "aaa", "ab", "abd", "abcd", "abcde", "KABCAB", "ka", "one two three", "one two", "éé", "ééxx", "xxxx", "xx",
			"a b", "ab c", "b", "\xff", "a\nc", "abcbc"} {
			want := -1
			if loc := re.FindStringIndex(text); loc != nil {
				want = loc[1]
			}
			if got, known := a.Prefix([]byte(text)); got != want || !known {
				t.Errorf("%s at the start of %q: %d bytes (known: %t), want %d", expr, text, got, known, want)
			}
		}
	}
}
