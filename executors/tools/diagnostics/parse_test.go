package diagnostics

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testdata(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The files are real outputs of the programs, with a shorter directory.
func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		parse          func(stdout, stderr string) []Diagnostic
		stdout, stderr string // files
		want           []string
	}{
		"cargo check": {parseCargo, "cargo-check.jsonl", "", []string{
			"src/main.rs:5:15: error: 2 positional arguments in format string, but there is 1 argument",
			"src/main.rs:5:23: error: cannot find value `missing` in this scope [E0425]",
			"src/main.rs:7:11: error: cannot find function `nothing` in module `util` [E0425]",
			"src/main.rs:4:18: error: mismatched types (expected `i32`, found `&str`) [E0308]",
			"src/main.rs:6:21: error: mismatched types (expected integer, found `&str`) [E0308]",
		}},
		"cargo clippy": {parseCargo, "cargo-clippy.jsonl", "", []string{
			"src/main.rs:3:9: warning: unused variable: `unused` [unused_variables]",
			"src/util.rs:3:5: warning: unneeded `return` statement [clippy::needless_return]",
			"src/util.rs:1:13: warning: writing `&Vec` instead of `&[_]` involves a new object where a slice will do [clippy::ptr_arg]",
			"src/util.rs:2:8: warning: length comparison to zero [clippy::len_zero]",
		}},
		"go build": {parseGo, "", "go-build.txt", []string{
			"./a.go:7:9: error: undefined: undefined1",
			`./a.go:11:9: error: cannot use F("x", 2) (value of type int) as string value in return statement`,
			"./a.go:11:11: error: too many arguments in call to F have (string, number) want ()",
		}},
		"go vet": {parseGo, "go-vet.stdout", "go-vet.stderr", []string{
			"/w/gomod/cmd/a/main.go:5:30: warning: fmt.Printf format %d reads arg #2, but call has 1 arg [printf]",
			"/w/gomod/cmd/b/main.go:5:30: warning: fmt.Printf format %d reads arg #2, but call has 1 arg [printf]",
			"./a.go:7:9: error: undefined: undefined1",
			"sub/s_test.go:5:30: error: too many arguments in call to S have (number) want ()",
		}},
		"tsc": {parseTSC, "tsc.txt", "", []string{
			"src/a.ts:2:16: error: Type 'string' is not assignable to type 'number'. [TS2322]",
			"src/a.ts:2:29: error: Type 'number' is not assignable to type 'string'. [TS2322]",
			"src/a.ts:4:3: error: Argument of type '(s: string) => void' is not assignable to parameter of type '(n: number) => void'. Types of parameters 's' and " +
				"'n' are incompatible. Type 'number' is not assignable to type 'string'. [TS2345]",
			"src/a.ts:5:26: error: Cannot find name 'missing'. [TS2304]",
			"src/a.ts:6:41: error: Type '(x: string) => number' is not assignable to type '(x: number) => string'. Types of parameters 'x' and 'x' are " +
				"incompatible. Type 'number' is not assignable to type 'string'. [TS2322]",
		}},
		"eslint": {parseESLint, "eslint.json", "", []string{
			"/w/es/a.js:1:5: warning: 'unused' is assigned a value but never used. [no-unused-vars]",
			"/w/es/a.js:2:5: error: 'a' is not defined. [no-undef]",
			"/w/es/a.js:2:7: error: Expected '===' and instead saw '=='. [eqeqeq]",
			"/w/es/a.js:2:15: error: 'b' is not defined. [no-undef]",
			"/w/es/broken.js:1:9: error: Parsing error: Unexpected token ;",
		}},
		"ruff": {parseRuff, "ruff.json", "", []string{
			"/w/py/a.py:1:1: error: Import block is un-sorted or un-formatted [I001]",
			"/w/py/a.py:1:8: error: `os` imported but unused [F401]",
			"/w/py/a.py:2:8: error: `requests` imported but unused [F401]",
			"/w/py/a.py:6:5: error: Local variable `y` is assigned to but never used [F841]",
			"/w/py/a.py:7:5: error: Undefined name `reveal_type` [F821]",
			"/w/py/a.py:12:7: error: Undefined name `undefined_name` [F821]",
			"/w/py/b.py:1:7: error: Expected a parameter or the end of the parameter list [invalid-syntax]",
			"/w/py/b.py:1:8: error: Expected `)`, found newline [invalid-syntax]",
		}},
		"mypy": {parseMypy, "mypy.txt", "", []string{
			`a.py:6:14: error: Incompatible types in assignment (expression has type "str", variable has type "int") [assignment]`,
			`a.py:7:17: note: Revealed type is "int"`,
			`a.py:8:12: error: Incompatible return value type (got "int", expected "str") [return-value]`,
			`a.py:11:1: error: Too many arguments for "f" [call-arg]`,
			`a.py:11:3: error: Argument 1 to "f" has incompatible type "str"; expected "int" [arg-type]`,
			`a.py:12:7: error: Name "undefined_name" is not defined [name-defined]`,
		}},
		"mypy, bad syntax": {parseMypy, "mypy-syntax.txt", "", []string{
			"b.py:1:8: error: Expected a parameter or the end of the parameter list [syntax]",
			"b.py:1:9: error: Expected `)`, found newline [syntax]",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs string
			if tt.stdout != "" {
				out = testdata(t, tt.stdout)
			}
			if tt.stderr != "" {
				errs = testdata(t, tt.stderr)
			}
			if diff := cmp.Diff(tt.want, lines(tt.parse(out, errs))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func lines(found []Diagnostic) []string {
	var out []string
	for _, d := range found {
		out = append(out, d.line())
	}
	return out
}

func TestParseOddOutput(t *testing.T) {
	eslint := testdata(t, "eslint.json")
	for name, tt := range map[string]struct {
		parse          func(stdout, stderr string) []Diagnostic
		stdout, stderr string
		want           []string
	}{
		"cargo: summaries": {parseCargo, `{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 2 previous errors","spans":[]}}
{"reason":"compiler-message","message":{"level":"warning","message":"1 warning emitted","spans":[]}}
{"reason":"build-finished","success":false}`, "", nil},
		"cargo: no place": {parseCargo,
			`{"reason":"compiler-message","message":{"level":"error","message":"linking with ` + "`cc`" + ` failed","code":null,"spans":[]}}`, "",
			[]string{"error: linking with `cc` failed"}},
		"cargo: macro of std": {parseCargo,
			`{"reason":"compiler-message","message":{"level":"error: internal compiler error","message":"m","spans":[{"file_name":"/rustc/abc/library/core/src/macros/mod.rs","line_start":10,"column_start":2,"is_primary":true,"label":"l","expansion":{"span":{"file_name":"src/lib.rs","line_start":3,"column_start":4}}}]}}`, "",
			[]string{"src/lib.rs:3:4: error: m (l)"}},
		"cargo: junk": {parseCargo, "warning: x\n{\n{\"reason\":5}\nnull\n", "", nil},

		"go: no column": {parseGo, "", "go: errors parsing go.mod:\ngo.mod:3: unknown directive: foo\n", []string{"go.mod:3: error: unknown directive: foo"}},
		"go: network":   {parseGo, "", "go: example.com/x@v1.0.0: Get \"https://proxy.golang.org/x\": dial tcp 10.0.0.1:443: connect: refused\n", nil},
		"go: missing module": {parseGo, "", "a.go:3:8: no required module provides package x.y/z; to add it:\n\tgo get x.y/z\n",
			[]string{"a.go:3:8: error: no required module provides package x.y/z; to add it: go get x.y/z"}},
		"go: drive": {parseGo, "", "C:\\w\\a.go:3:8: undefined: x\r\n", []string{`C:\w\a.go:3:8: error: undefined: x`}},
		"go: cgo": {parseGo, "", "# x\n./a.go:4:10: fatal error: foo.h: No such file or directory\n    4 | #include <foo.h>\n./a.go:9:1: warning: unused\n",
			[]string{"./a.go:4:10: error: fatal error: foo.h: No such file or directory", "./a.go:9:1: warning: warning: unused"}},
		"go: vet before 1.25": {parseGo, "",
			"# x\n{\n\t\"x\": {\n\t\t\"printf\": [{\"posn\": \"/w/a.go:1:2\", \"message\": \"m\"}],\n\t\t\"copylocks\": {\"error\": \"e\"}\n\t}\n}\n# y\nvet: " +
				"./b.go:2:3: undefined: z\n",
			[]string{"/w/a.go:1:2: warning: m [printf]", "./b.go:2:3: error: undefined: z"}},
		"go: broken vet": {parseGo, "{ \"x\": ", "./b.go:2:3: e\n", []string{"./b.go:2:3: error: e"}},

		"tsc: no place":    {parseTSC, "error TS5083: Cannot read file '/w/no.json'.\n", "", []string{"error: Cannot read file '/w/no.json'. [TS5083]"}},
		"tsc: parentheses": {parseTSC, "app/(group)/a b.ts(1,2): error TS1: m\r\n", "", []string{"app/(group)/a b.ts:1:2: error: m [TS1]"}},
		"tsc: help":        {parseTSC, "Version 5\ntsc: The TypeScript Compiler\n  indented\n", "", nil},

		"eslint: text around": {parseESLint, "[warn] a plugin\n(node:1) Warning\n" + eslint + "\nbye\n", "", lines(parseESLint(eslint, ""))},
		"eslint: cut off":     {parseESLint, eslint[:len(eslint)*3/4], "", lines(parseESLint(eslint, ""))[:4]},
		"eslint: nothing":     {parseESLint, "[]", "Oops", nil},
		"ruff: before severity": {parseRuff, `[{"code":null,"filename":"/w/b.py","location":{"column":7,"row":1},"message":"SyntaxError: x"}]`, "",
			[]string{"/w/b.py:1:7: error: SyntaxError: x"}},
		"mypy: no line": {parseMypy, "a/x.py: error: Duplicate module named \"x\" (also at \"b/x.py\")\n", "",
			[]string{`a/x.py: error: Duplicate module named "x" (also at "b/x.py")`}},
		"mypy: usage": {parseMypy, "", "usage: mypy [-h]\nmypy: error: unrecognized arguments: --x\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(tt.parse(tt.stdout, tt.stderr))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Each of these once took quadratic time. The repository determines the output,
// and a parser has no time limit. The test counts allocated bytes as work.
func TestParseIsLinear(t *testing.T) {
	work := func(parse func(stdout, stderr string) []Diagnostic, text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parse(text, "")
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, line := range []string{"[\n", "{\"a\":\n", "a.go:1:1: x\n\ty\n", "\ty\n", "  y\n", "a(1,1): error TS1: m\n  y\n"} {
		text := func(size int) string {
			return "a.go:1:2: m\na.ts(1,2): error TS1: m\n" + strings.Repeat(line, size/len(line))
		}
		for name, parse := range map[string]func(stdout, stderr string) []Diagnostic{
			"cargo": parseCargo, "go": parseGo, "tsc": parseTSC, "eslint": parseESLint, "ruff": parseRuff, "mypy": parseMypy,
		} {
			const size = keptHead / 32
			// Growing slices allocate in steps, hence 8 times and not 4;
			// quadratic work would be 16 times.
			if one, four := work(parse, text(size)), work(parse, text(4*size)); four > 8*one+1<<20 {
				t.Errorf("%s of %q: %d bytes allocated, %d for four times the text", name, line, one, four)
			}
		}
	}
}

func TestMarkers(t *testing.T) {
	for text, want := range map[string]bool{
		`{"files": [], "references": [{"path": "./a"}]}`:                                                    true,
		"\ufeff{ // c\n \"files\": [/* none, */], \"references\": [{\"path\": \"http://x/*\"},], // end\n}": true,
		`{"files": [], "references": []}`:                                                                   false,
		`{"references": [{"path": "./a"}]}`:                                                                 false,
		`{"files": [], "include": ["src"], "references": [{"path": "./a"}]}`:                                false,
		`{"files": ["a.ts"], "references": [{"path": "./a"}]}`:                                              false,
		`{"files": [], "references": [{"path": "./a"`:                                                       false,
		``: false,
	} {
		if got := onlyReferences(text); got != want {
			t.Errorf("solution(%s) = %t", text, got)
		}
	}
	for text, want := range map[string]bool{
		"[package]\nname = \"x\"\n[workspace] # all\nmembers = []\n": true,
		"[package]\n[workspace.lints]\n":                             false,
		"# [workspace]\n":                                            false,
	} {
		if got := rustWorkspace(text); got != want {
			t.Errorf("rustWorkspace(%q) = %t", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"cargo-check.jsonl", "go-build.txt", "go-vet.stdout", "tsc.txt", "eslint.json", "ruff.json", "mypy.txt"} {
		f.Add(testdata(f, name), testdata(f, "go-vet.stderr"))
	}
	f.Fuzz(func(t *testing.T, stdout, stderr string) {
		for _, parse := range []func(stdout, stderr string) []Diagnostic{parseCargo, parseGo, parseTSC, parseESLint, parseRuff, parseMypy} {
			for _, d := range parse(stdout, stderr) {
				if rank(d.Severity) < 0 {
					t.Errorf("got %+v, want a known severity", d)
				}
			}
		}
	})
}

func FuzzPlainJSON(f *testing.F) {
	f.Add(`{"a": [1, 2,], /* c */ "b": "// \" ,]", // d` + "\n}")
	f.Add(`[1,`)
	f.Fuzz(func(t *testing.T, text string) {
		plain := plainJSON(text)
		if json.Valid([]byte(text)) && !strings.HasPrefix(text, "\ufeff") && string(plain) != text {
			t.Errorf("%q became %q", text, plain)
		}
		onlyReferences(text)
		section(text, "[a]")
	})
}

func BenchmarkParseCargo(b *testing.B) {
	text := strings.Repeat(testdata(b, "cargo-check.jsonl"), 100)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		parseCargo(text, "")
	}
}
