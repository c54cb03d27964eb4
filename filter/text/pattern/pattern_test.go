package pattern

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func never() bool { return false }

func TestCompile(t *testing.T) {
	for expr, want := range map[string]string{
		`foo(bar)?\d+`:                     "",
		strings.Repeat(`.*`, 300) + `[YZ]`: "",
		`\w{1000}`:                         "",
		`(\w{1,10}\s){90}`:                 "",
		`[\pL\pN_]{30}`:                    "",
		`((a{10}){10}){10}`:                "",
		`(foo`:                             "missing closing )",
		`a{1001}`:                          "invalid repeat count",
		`a{1000}|b{1000}|c{1000}|d{1000}|e{1000}|f{1000}`: "too large",
		strings.Repeat(`\w{1000}`, 64):                    "too large",
		strings.Repeat(`[\pL\pN]{1000}`, 3):               "too large",
		strings.Repeat("x", 4096):                         "",
	} {
		p, err := Compile(expr)
		if _, large := errors.AsType[*TooLargeError](err); large != (want == "too large") {
			t.Errorf("%.40s: %v", expr, err)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", expr, err, want)
		}
		if err == nil && p.re.String() != expr {
			t.Errorf("%.40s is %.40s", expr, p.re)
		}
	}
}

// A slow search returns the result of package regexp, and can be stopped. The
// test counts the calls of stopped, not the time.
func TestFindIsStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of steps on one goroutine: nothing for the race detector")
	}
	p, err := Compile(`(?s)` + strings.Repeat(`.*`, 300) + `[YZ]`)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("x"), 5<<20)
	looks := 0
	loc := p.Find(text, func() bool { looks++; return looks == 2 })
	if loc != nil || looks != 2 {
		t.Errorf("found %v after %d looks", loc, looks)
	}
	if every := stepsBetweenStops / 8 / p.size * p.size; every > stepsBetweenStops {
		t.Errorf("%d steps between two looks", every)
	}
}

func TestFind(t *testing.T) {
	long := strings.Repeat("é\xff word ", 1<<16)
	for _, expr := range []string{`end$`, `^é`, `\bword\b.{3}é`, `(?s)d.*nd`, `\xff`, `\x{fffd} `, `none`} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		p.size = 500 // so that it is slow
		text := []byte(long + "end")
		if !p.slow(len(text)) {
			t.Fatal("the text is too short for the test")
		}
		want := regexp.MustCompile(expr).FindIndex(text)
		if got := p.Find(text, never); !bytes.Equal(bytesOf(got), bytesOf(want)) {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
		if p.Match(text, never) != (want != nil) {
			t.Errorf("%s: match", expr)
		}
	}
}

func bytesOf(loc []int) []byte {
	var out []byte
	for _, n := range loc {
		out = append(out, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return out
}

func TestFindFrom(t *testing.T) {
	for _, tt := range []struct {
		expr, text string
		from, want int
	}{
		{`a`, "abca", 0, 0}, {`a`, "abca", 1, 3}, {`a`, "abc", 1, -1},
		{`^a`, "aaa", 0, 0}, {`^a`, "aaa", 1, -1}, {`(?m)^a`, "a\na", 1, 2},
		{`\bword`, "a word, sword word", 3, 14}, {`\bd`, "word", 3, -1}, {`\Bd`, "word", 3, 3},
		{`\b`, "a é a", 1, 1}, {`\b`, "é é", 2, -1}, {`b*`, "aaa", 2, 2}, {`\b.`, "a b", 1, 1}, {`$`, "ab", 1, 2},
	} {
		p, err := Compile(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.FindFrom([]byte(tt.text), tt.from, never); got != tt.want {
			t.Errorf("%s in %q from %d: %d, want %d", tt.expr, tt.text, tt.from, got, tt.want)
		}
	}
}
