package text

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Lines that patterns are matched against.
var patternLines = []string{
	"", " ", "\t", "foo", " foo", "\tfoo", "  foo bar", "Foo", "FOO bar", "xfoo", "bar foo", "error: x", "Error: x", "a error: x", "warning: unused",
	"   Compiling foo v1.0", "Compiling foo", "\tCompiling foo",
	"Compilin", "Step 3/10 : RUN x", " ---> 0a1b2c3d", "--- FAIL: TestX (0.00s)", "ok  \tpkg\t0.1s", "k", "K", "s", "S", "99%", "é", "É", "npm warn x",
	"npm WARN x", "added 12 packages", "\u017foo ſ K", "━━╸ 1", "foo!", "a_b", "bar\x00foo",
}

var patternExprs = []string{
	`^foo`, `^\s*Compiling `, `^ *foo`, `^\s+foo`, `^(foo|bar)`, `^foo|^bar`, `^(?:Compiling|Downloading|Downloaded)\b`, `^--- (FAIL|PASS|SKIP):`,
	`^Step \d+/\d+ : `, `^ok\s+`, `^[FE]oo`, `(?i)^npm warn`,
	`^\s*$`, `^`, `$`, `foo`, `error|warning`, `(?i)error`, `^.* foo`, `\d+ packages`, `x*y?`, `(foo)+bar`, `[a-z]+`, `^é`, `\bfoo\b`, `foo\B`, `\Bfoo`,
	`(?i)S`, `[━╸]+ \d`, `^[^a-z]+$`, `o$`, `(?m)^bar$`, `.`, `\x00`, `a{2,3}`, `^(a|b|)c`, `\S+\s+\S+$`, `^.*(ar|oo)$`,
}

func TestPattern(t *testing.T) {
	for _, expr := range patternExprs {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		set, err := CompileAll([]string{"^never$", expr, "x never"})
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(expr)
		for _, line := range patternLines {
			want := re.MatchString(line)
			if got := p.Match([]byte(line)); got != want {
				t.Errorf("%s matches %q: %t, want %t", expr, line, got, want)
			}
			if got := set.Match([]byte(line)); got != want {
				t.Errorf("a set with %s matches %q: %t", expr, line, got)
			}
			if got := p.Submatch([]byte(line)); (got != nil) != want {
				t.Errorf("%s on %q: %q, want a match: %t", expr, line, got, want)
			}
		}
	}
	for expr, want := range map[string]string{"(": "not a regular expression", strings.Repeat("é", 513): "513 characters"} {
		if _, err := Compile(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.20s): %v, want an error with %q", expr, err, want)
		}
	}
	if _, err := Compile(strings.Repeat("é", 512)); err != nil {
		t.Errorf("a pattern of 512 characters is refused: %v", err)
	}
	if (*Patterns)(nil).Match([]byte("x")) || (&Patterns{}).Match([]byte("x")) {
		t.Error("no pattern matches")
	}
}

// The patterns of the built-in rules fit into one automaton.
func TestPatternsHaveAutomatons(t *testing.T) {
	set, err := CompileAll(patternExprs)
	if err != nil || set.automaton() == nil {
		t.Errorf("the set has no automaton: %v", err)
	}
}

func TestPatternsConcurrently(t *testing.T) {
	set, err := CompileAll([]string{`^a.*b$`, `\d+x`, `(?i)error`})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2000 {
				if line := fmt.Sprintf("a%dx%dc", i, i); !set.Match([]byte(line)) {
					t.Errorf("%s does not match", line)
				}
				if line := fmt.Sprintf("c%da ERRO %dR", i, i); set.Match([]byte(line)) {
					t.Errorf("%s matches", line)
				}
			}
		})
	}
	wg.Wait()
}

// An automaton agrees with package regexp.
func FuzzPattern(f *testing.F) {
	for _, expr := range patternExprs {
		for _, line := range patternLines {
			f.Add(expr, line)
		}
	}
	f.Fuzz(func(t *testing.T, expr, line string) {
		p, err := Compile(expr)
		if err != nil || !utf8.ValidString(line) {
			return
		}
		want := regexp.MustCompile(expr).MatchString(line)
		if got := p.Match([]byte(line)); got != want {
			t.Errorf("%q on %q: %t, want %t", expr, line, got, want)
		}
		set, _ := CompileAll([]string{expr, `^never`})
		if got := set.Match([]byte(line)); got != (want || strings.HasPrefix(line, "never")) {
			t.Errorf("a set of %q on %q: %t", expr, line, got)
		}
	})
}

func BenchmarkPatterns(b *testing.B) {
	set, err := CompileAll(patternExprs[:12])
	if err != nil {
		b.Fatal(err)
	}
	line := []byte("2025-05-02T10:00:00Z api-1 | INFO worker step 0 finished in 9ms, nothing else")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		set.Match(line)
	}
}
