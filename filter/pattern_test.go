package filter

import (
	"regexp"
	"strings"
	"testing"
)

// lines that patterns are tried on.
var patternLines = []string{
	"", " ", "\t", "foo", " foo", "\tfoo", "  foo bar", "Foo", "FOO bar", "xfoo", "bar foo", "error: x", "Error: x", "a error: x", "warning: unused", "   Compiling foo v1.0", "Compiling foo", "\tCompiling foo",
	"Compilin", "Step 3/10 : RUN x", " ---> 0a1b2c3d", "--- FAIL: TestX (0.00s)", "ok  \tpkg\t0.1s", "k", "K", "s", "S", "99%", "é", "É", "npm warn x", "npm WARN x", "added 12 packages",
}

func TestPattern(t *testing.T) {
	for expr, tt := range map[string]struct{ begins, needs string }{
		`^foo`:           {"foo", ""},
		`^\s*Compiling `: {"Compiling ", ""},
		`^ *foo`:         {"foo", ""},
		`^\s+foo`:        {"foo", ""},
		`^(foo|bar)`:     {"foo bar", ""},
		`^foo|^bar`:      {"", "foo bar"},
		`^(?:Compiling|Downloading|Downloaded)\b`: {"Compiling Downloading Downloaded", ""},
		`^--- (FAIL|PASS|SKIP):`:                  {"--- FAIL: --- PASS: --- SKIP:", ""},
		`^Step \d+/\d+ : `:                        {"Step ", ""},
		`^ok\s+`:                                  {"ok", ""},
		`^[FE]oo`:                                 {"Eoo Foo", ""},
		`(?i)^npm warn`:                           {"npm warn", ""},
		`^\s*$`:                                   {"", ""},
		`^`:                                       {"", ""},
		`foo`:                                     {"", "foo"},
		`error|warning`:                           {"", "error warning"},
		`(?i)error`:                               {"", "error"},
		`^.* foo`:                                 {"", " foo"},
		`\d+ packages`:                            {"", " packages"},
		`x*y?`:                                    {"", ""},
		`(foo)+bar`:                               {"", "foo"},
		`[a-z]+`:                                  {"", ""},
		`^é`:                                      {"é", ""},
	} {
		p, err := compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		join := func(texts [][]byte) string {
			var s []string
			for _, b := range texts {
				s = append(s, string(b))
			}
			return strings.Join(s, " ")
		}
		if join(p.begins) != tt.begins || join(p.needs) != tt.needs {
			t.Errorf("%s: begins %q, needs %q", expr, join(p.begins), join(p.needs))
		}
		set, err := compileAll([]string{"^never$", expr})
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(expr)
		for _, line := range patternLines {
			want := re.MatchString(line)
			if got := p.match([]byte(line)); got != want {
				t.Errorf("%s matches %q: %t", expr, line, got)
			}
			if got := set.match([]byte(line)); got != want {
				t.Errorf("a set with %s matches %q: %t", expr, line, got)
			}
		}
	}
	for expr, want := range map[string]string{"(": "no regular expression", strings.Repeat("é", 513): "513 characters"} {
		if _, err := compile(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", expr, err)
		}
	}
	if _, err := compile(strings.Repeat("é", 512)); err != nil {
		t.Error(err)
	}
}

// What is looked for first never hides a match, on lines of ASCII: outside of it
// a regular expression knows more forms of a letter.
func FuzzPattern(f *testing.F) {
	for _, expr := range []string{`^\s*(foo|ba[rz])\d`, `(?i)^x|yz`, `^(a|b|)c`, `a{2,3}b?|cd+`, `(?i:Ab)C`, `^[ \t]+x$`, `\bfoo\b`} {
		for _, line := range patternLines {
			f.Add(expr, line)
		}
	}
	f.Fuzz(func(t *testing.T, expr, line string) {
		p, err := compile(expr)
		if err != nil || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }) {
			return
		}
		want := regexp.MustCompile(expr).MatchString(line)
		if got := p.match([]byte(line)); got != want {
			t.Errorf("%q on %q: %t (begins %q, needs %q)", expr, line, got, p.begins, p.needs)
		}
		set, _ := compileAll([]string{expr})
		if got := set.match([]byte(line)); got != want {
			t.Errorf("a set of %q on %q: %t", expr, line, got)
		}
	})
}
