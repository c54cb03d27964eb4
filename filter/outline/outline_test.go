package outline

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// body returns the lines of a body of block i, which all differ.
func body(i int, indent string) string {
	var b strings.Builder
	for n := range 12 {
		fmt.Fprintf(&b, "%sdetail %s of block %s, which nothing but the details needs\n", indent, word(n), word(i))
	}
	return b.String()
}

// word returns a number in letters: bodies that differ only in numbers count as the same.
func word(n int) string { return string([]rune{rune('a' + n/26), rune('a' + n%26)}) }

// In output of each kind the heads of all blocks stay, the first bodies stay whole, and the mark says what
// is left out.
func TestHeadsStay(t *testing.T) {
	const blocks, budget = 60, 8000
	for name, tt := range map[string]struct {
		block  string // in which %[1]d is its number and %[2]s its body
		indent string
		heads  []string // in every block
		last   string   // after the blocks
		noun   string
	}{
		"go": {"--- FAIL: TestX%[1]d (0.00s)\n    x_test.go:%[1]d: got 1, want 2\n%[2]s", "        ",
			[]string{"--- FAIL: TestX%[1]d (0.00s)\n", "x_test.go:%[1]d: "}, "FAIL\nFAIL\tx\t0.1s\n", "test"},
		"go, verbose": {"=== RUN   TestX%[1]d\n    x_test.go:7%[1]d: set up\n    x_test.go:%[1]d: broken\n%[2]s--- FAIL: TestX%[1]d (0.00s)\n", "        ",
			[]string{"--- FAIL: TestX%[1]d (0.00s)\n", "x_test.go:%[1]d: "}, "FAIL\nFAIL\tx\t0.1s\n", "test"},
		"pytest": {"______________ test_x%[1]d ______________\n\n    def f():\n%[2]sE   assert 1 == 2\n\ntests/test_x.py:%[1]d: AssertionError\n", ">       ",
			[]string{"__ test_x%[1]d __", "tests/test_x.py:%[1]d: "}, "=== short test summary info ===\nFAILED tests/test_x.py::test_x1\n", "failure"},
		"unittest": {"FAIL: test_a%[1]d (m.T.test_a%[1]d)\nTraceback (most recent call last):\n  File \"/a/m.py\", line %[1]d, in test_a\n%[2]s", "    ",
			[]string{"FAIL: test_a%[1]d (m.T", "File \"/a/m.py\", line %[1]d,"}, "Ran 60 tests in 0.1s\n", "failure"},
		"cargo": {"---- t::x%[1]d stdout ----\n\nthread 't::x%[1]d' panicked at src/lib.rs:%[1]d:9:\n%[2]s", "  ",
			[]string{"---- t::x%[1]d stdout", "panicked at src/lib.rs:%[1]d:9"}, "test result: FAILED. 0 passed; 60 failed\n", "failure"},
		"jest": {"  ● cart › adds %[1]d\n\n    expect(received).toBe(expected)\n%[2]s      at Object.toBe (cart.test.js:%[1]d:68)\n\n", "    ",
			[]string{"● cart › adds %[1]d\n", "(cart.test.js:%[1]d:68)"}, "Test Suites: 1 failed, 1 total\n", "failure"},
		"vitest": {" FAIL  src/cart.test.js > sums %[1]d\nAssertionError: no\n%[2]s ❯ src/cart.test.js:%[1]d:89\n\n", "  ",
			[]string{" FAIL  src/cart.test.js > sums %[1]d\n", "❯ src/cart.test.js:%[1]d:89"}, " Test Files  1 failed (1)\n", "failure"},
		"mocha": {"  %[1]d) Cart adds:\n     TypeError: gateway is null\n%[2]s      at Context.<anonymous> (test/cart.cjs:%[1]d:37)\n\n", "      ",
			[]string{"  %[1]d) Cart adds", "test/cart.cjs:%[1]d:37"}, "  60 failing\n", "failure"},
		"surefire": {"[ERROR] shop.CartTest.adds%[1]d -- Time elapsed: 1 s <<< ERROR!\njava.lang.Exception: / by zero\n\tat a.C.b(Cart.java:%[1]d)\n%[2]s", "\t",
			[]string{"shop.CartTest.adds%[1]d --", "(Cart.java:%[1]d)"}, "[ERROR] Tests run: 60, Failures: 60\n", "failure"},
		"dotnet": {"  Failed Shop.Tests.Sums%[1]d [5 ms]\n  Stack Trace:\n%[2]s     at Shop.Sums() in /p/CartTests.cs:line %[1]d\n", "   ",
			[]string{"Failed Shop.Tests.Sums%[1]d [", "CartTests.cs:line %[1]d\n"}, "Failed!  - Failed: 60\n", "failure"},
		"googletest": {"[ RUN      ] Cart.Sum%[1]d\n/src/cart_test.cc:%[1]d: Failure\n%[2]s[  FAILED  ] Cart.Sum%[1]d (0 ms)\n", "  ",
			[]string{"[  FAILED  ] Cart.Sum%[1]d (0 ms)\n", "/src/cart_test.cc:%[1]d: "}, "[==========] 60 tests ran.\n", "test"},
		"tap": {"not ok %[1]d - adds\n  location: 'n.test.mjs:%[1]d:3'\n%[2]s", "    ",
			[]string{"not ok %[1]d - adds\n", "n.test.mjs:%[1]d:3"}, "1..60\n", "failure"},
		"rustc": {"error[E0308]: mismatched types\n  --> src/x.rs:%[1]d:5\n%[2]s", "   | ",
			[]string{"--> src/x.rs:%[1]d:5\n"}, "error: could not compile\n", "diagnostic"},
		"gcc": {"src/x.c:%[1]d:3: error: no member\n%[2]s", "      | ",
			[]string{"src/x.c:%[1]d:3: error: no member\n"}, "make: *** [x] Error 1\n", "diagnostic"},
		"diff": {"diff --git a/f%[1]d.go b/f%[1]d.go\n--- a/f%[1]d.go\n+++ b/f%[1]d.go\n@@ -%[1]d,3 +1,15 @@ func f() {\n%[2]s", "+",
			[]string{"diff --git a/f%[1]d.go b/f%[1]d.go\n", "@@ -%[1]d,3 +1,15 @@ func f() {\n"}, "", "hunk"},
		"log": {"commit 00000000000000000000000000000000000000%02[1]d\nAuthor: A <a@b>\nDate:   today\n\n    Subject %[1]d\n    \n%[2]s\n", "    ",
			[]string{"\n    Subject %[1]d\n"}, "", "commit"},
		"log, filtered": {"0123456789%02[1]d 2026-01-02 Ann: Subject %[1]d\n%[2]s 3 files changed, %[1]d insertions(+)\n\n", " a.go | ",
			[]string{"Ann: Subject %[1]d\n", " 3 files changed, %[1]d "}, "", "commit"},
	} {
		t.Run(name, func(t *testing.T) {
			var in strings.Builder
			in.WriteString("before\n")
			for i := range blocks {
				fmt.Fprintf(&in, tt.block, i, body(i, tt.indent))
			}
			in.WriteString(tt.last)
			got, ok := Shorten([]byte(in.String()), budget)
			if !ok {
				t.Fatalf("not shortened:\n%.3000s", in.String())
			}
			for i := range blocks {
				for _, h := range tt.heads {
					if want := fmt.Sprintf(strings.ReplaceAll(h, "%d", "%[1]d"), i); !strings.Contains(got, want) {
						t.Fatalf("no %q in\n%s", want, got)
					}
				}
			}
			if !strings.Contains(got, body(0, tt.indent)) {
				t.Errorf("the first body is not whole in\n%.2000s", got)
			}
			if !strings.HasPrefix(got, "before\n") || !strings.Contains(got, tt.last) {
				t.Errorf("the lines around the blocks are missing:\n%s", got)
			}
			if !regexp.MustCompile(`\[… \d+ lines, [\d,]+ characters of \d+ ` + tt.noun + `s? cut …\]\n`).MatchString(got) {
				t.Errorf("no mark for a %s in\n%s", tt.noun, got)
			}
			if n := utf8.RuneCountInString(got); n > 14_000 {
				t.Errorf("%d characters for a budget of %d", n, budget)
			}
		})
	}
}

// Small hunks are worth more than large ones.
func TestLargestHunkFirst(t *testing.T) {
	diff := "diff --git a/a b/a\n@@ -1 +1,500 @@\n" + strings.Repeat("+a long generated line\n", 500) +
		"diff --git a/b b/b\n@@ -1,2 +1,2 @@\n-old\n+new\n@@ -9 +9 @@\n-2\n+3\n"
	got, ok := Shorten([]byte(diff), 3000)
	want := "@@ -1 +1,500 @@\n" + strings.Repeat("+a long generated line\n", 126) +
		"[… 374 lines, 8,602 characters of 1 hunk cut …]\ndiff --git a/b b/b\n@@ -1,2 +1,2 @@\n-old\n+new\n@@ -9 +9 @@\n-2\n+3\n"
	if _, got, _ = strings.Cut(got, "\n"); !ok || got != want {
		t.Errorf("%t, got\n%s\nwant\n%s", ok, got, want)
	}
}

// A failure for a new reason is worth more than one like an earlier one.
func TestSameFailureAgain(t *testing.T) {
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, "--- FAIL: TestX%d (0.00s)\n    x_test.go:%d: no\n%s", i, i, body(0, "        "))
	}
	in.WriteString("--- FAIL: TestY (0.00s)\n    y_test.go:1: no\n" + body(1, "        ") + "--- FAIL: TestZ (0.00s)\n    z_test.go:1: no\n" + body(0, "        "))
	got, ok := Shorten([]byte(in.String()), 5000)
	if !ok || !strings.Contains(got, body(1, "        ")) || strings.Count(got, body(0, "        ")) > 2 {
		t.Errorf("%t:\n%s", ok, got)
	}
}

// Output without blocks, in the budget, or with little to leave out stays.
func TestUnchanged(t *testing.T) {
	for name, in := range map[string]string{
		"prose":          strings.Repeat("some line of a log\n", 2000),
		"in the budget":  "--- FAIL: TestX (0.00s)\n    x_test.go:1: no\n" + body(1, "    "),
		"places":         strings.Repeat("src/x.ts:1:2: error TS1: no\n", 2000),
		"mostly outside": strings.Repeat("some line of a log\n", 2000) + "--- FAIL: TestX (0.00s)\n" + body(1, "    ") + "FAIL\n",
	} {
		if got, ok := Shorten([]byte(in), 4000); ok {
			t.Errorf("%s: shortened to\n%.2000s", name, got)
		}
	}
}

// Whatever the output is, all lines of the short form are lines of it, in order, or marks that count the others.
func FuzzShorten(f *testing.F) {
	f.Add("--- FAIL: TestX (0.00s)\n    x_test.go:1: no\n"+body(1, "    ")+"FAIL\n", 300)
	f.Add("=== RUN   A\n"+body(1, "    ")+"--- FAIL: A (0s)\n=== RUN   B\n"+body(2, "  ")+"--- FAIL: B (0s)\n", 300)
	f.Add("diff --git a/a b/a\n@@ -1 +1,5 @@\n"+body(3, "+")+"@@ -7 +1,5 @@\n"+body(4, "-"), 200)
	f.Add("commit 0123456789\nAuthor: a\n\n    b\n\n"+body(3, "    "), 20)
	f.Add("error[E1]: x\n --> a.rs:1:1\n"+body(3, " | ")+"\ngoroutine 1 [running]:\n"+body(1, "\t"), 20)
	mark := regexp.MustCompile(`^\[… ([\d,]+) lines?, .* cut …\]$`)
	f.Fuzz(func(t *testing.T, in string, budget int) {
		got, ok := Shorten([]byte(in), max(budget, 1))
		if !ok {
			return
		}
		if len(got) >= len(in)+1 {
			t.Errorf("%d bytes became %d", len(in), len(got))
		}
		rest := strings.Split(strings.TrimSuffix(in, "\n"), "\n")
		all, kept, cutLines := len(rest), 0, 0
		for _, l := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if m := mark.FindStringSubmatch(l); m != nil && !strings.Contains(in, l) {
				n := 0
				_, _ = fmt.Sscan(strings.ReplaceAll(m[1], ",", ""), &n)
				cutLines += n
				continue
			}
			kept++
			begin, cut := strings.CutSuffix(l, "…")
			if !cut {
				begin, cut = strings.CutSuffix(l, sameReason)
			}
			for len(rest) > 0 && rest[0] != l && !(cut && strings.HasPrefix(rest[0], begin)) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				t.Fatalf("%q is not a line of the output after the one before", l)
			}
			rest = rest[1:]
		}
		if kept+cutLines != all {
			t.Errorf("%d lines stay and %d are counted as cut, of %d", kept, cutLines, all)
		}
	})
}
