package reports

import (
	"fmt"
	"strings"
	"testing"
)

// decode returns the lines of a decoded output.
func decode(output string) (lines string, decoded bool) {
	var b strings.Builder
	d := Decoder{Emit: func(l []byte) { fmt.Fprintf(&b, "%s\n", l) }}
	for l := range strings.SplitSeq(strings.TrimSuffix(output, "\n"), "\n") {
		d.Line([]byte(l))
	}
	d.End()
	return b.String(), d.Decoded
}

const eslint = `[{"filePath":"/w/a.js","messages":[{"ruleId":"semi","severity":2,"message":"Missing \"semicolon\".","line":1,"column":9},` +
	`{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: \u001b[31mx\u001b[0m","line":2,"column":1}]},` +
	`{"filePath":"/w/b.js","messages":[{"ruleId":"eqeqeq","severity":1,"message":"Expected '==='.","line":3,"column":4}]}]`

const eslintLines = "/w/a.js\n  1:9  error  Missing \"semicolon\".  semi\n  2:1  error  Parsing error: x\n\n/w/b.js\n  3:4  warning  Expected '==='.  eqeqeq\n"

func TestDecoder(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"between text": {"> lint\n" + eslint + "\nnpm error code 1\n", "> lint\n" + eslintLines + "npm error code 1\n"},
		"in pieces":    {eslint[:77] + "\n" + eslint[77:200] + "\n" + eslint[200:], eslintLines},
		"indented":     {strings.NewReplacer("{", "{\n  ", "]", "\n]\n").Replace(eslint), eslintLines},
		"no problems":  {`[{"filePath":"/w/a.js","messages":[],"usedDeprecatedRules":[]}]`, "0 problems\n"},
		"golangci-lint": {`{"Issues":[{"FromLinter":"errcheck","Text":"x is\nnot y","Severity":"","Pos":{"Filename":"a.go","Line":5,"Column":2}}],` +
			`"Report":{"Error":"timed out"}}`,
			"a.go:5:2: x is [errcheck]\n    not y\nError: timed out\n"},
		"from 0": {`{"generalDiagnostics":[{"file":"/a.py","severity":"error","message":"no","range":{"start":{"line":3,"character":7}},` +
			`"rule":"reportX"}]}`,
			"/a.py\n  4:8  error  no  reportX\n"},
		"not shown": {`{"diagnostics":[],"summary":{"diagnosticsNotPrinted":7}}`, "0 problems\ndiagnosticsNotPrinted: 7\n"},
		"an object a line": {`{"file":"b.py","line":1,"column":2,"message":"m","hint":"h","code":"c","severity":"note"}` + "\nFound 1",
			"b.py:1:2: m [note/c]\n    h\nFound 1\n"},
		"mocha": {`{"stats":{"passes":1,"pending":0,"failures":1},"failures":[{"fullTitle":"a b","file":"/w/a.js","err":{"stack":"E: x\n at f",` +
			`"message":"x","actual":"1","expected":"2"}}]}`,
			"FAIL /w/a.js\n  ● a b\n\n    E: x\n     at f\n    expected: 2\n    actual: 1\n\n  1 passing\n  1 failing\n"},
		"suite that fails": {`{"numFailedTests":0,"numTotalTests":0,"numFailedTestSuites":1,"numTotalTestSuites":1,"testResults":[{"name":"a.js",` +
			`"status":"failed","message":"no x","assertionResults":[]}]}`,
			"FAIL a.js\n  ● Test suite failed to run\n\n    no x\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n"},
		"annotation":      {"::error file=a%3Ab.py,line=3,col=7,title=F401::100%25%0Amore", "a:b.py:3:7: 100% [Error/F401]\n    more\n"},
		"annotation, row": {"::warning file=src/a.py,line=3,col=7,title=F401::m", "src/a.py\n  3:7  warning  m  F401\n"},
		"names its place": {"::error title=ruff (I001),file=/w/a.py,line=1::a.py:1:1: I001 x%0A  help: y", "a.py:1:1: I001 x\n  help: y\n"},
		"title of a test": {"::error file=/w/a.js,title=a.js > b,line=6,column=2::no", "/w/a.js\n  6:2  error  a.js > b: no\n"},
		"after jest's text": {"FAIL a.js\n" + `{"numTotalTests":1,"numTotalTestSuites":1,"testResults":[{"name":"/w/a.js","status":"passed","assertionResults":[]}]}`,
			"FAIL a.js\n" + repeated + "\nTest Suites: 1 total\nTests:       1 total\n"},
		"cargo": {`{"reason":"compiler-artifact","package_id":"registry+https://x#itoa@1.0.19","executable":null,"fresh":true}` + "\n" +
			`{"reason":"compiler-message","package_id":"path+file:///w/app#0.1.0","message":{"rendered":"warning: unused\n --> a.rs:1:5\n\n",` +
			`"$message_type":"diagnostic","spans":[]}}` + "\n" +
			`{"reason":"compiler-artifact","package_id":"path+file:///w/app#0.1.0","executable":"/w/app/target/app","fresh":false}` + "\n" +
			`{"reason":"build-script-executed","package_id":"libc 0.2.1 (registry+https://x)"}` + "\n" + `{"reason":"build-finished","success":false}`,
			"       Fresh itoa v1.0.19\nwarning: unused\n --> a.rs:1:5\n   Compiling app v0.1.0\n  Executable /w/app/target/app\n" +
				"   Compiling libc 0.2.1 (build script)\nbuild-finished: failed\n"},
		"rustc":              {`{"$message_type":"diagnostic","message":"x","rendered":"error: x\n\n"}`, "error: x\n"},
		"several empty ones": {"[]\n{}\n[1, 2]\n[INFO] x", "[]\n{}\n[1, 2]\n[INFO] x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := decode(tt.in); strings.TrimLeft(got, "\n") != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// What is no whole report of a known form passes through byte by byte.
func TestDecoderPasses(t *testing.T) {
	for name, in := range map[string]string{
		"cut":             eslint[:300],
		"cut, indented":   "[\n  {\n" + eslint[2:120],
		"text after it":   eslint + " # done",
		"no message":      strings.ReplaceAll(eslint, `"message"`, `"msg"`),
		"no file":         strings.ReplaceAll(eslint, `"filePath"`, `"f"`),
		"another form":    `{"ruleId":"x","data":[1,2]}`,
		"another problem": `{"results":[{"filename":"a","line_number":1,"issue_text":"t","issue_severity":"LOW"}],"errors":[{"reason":"syntax"}]}`,
		"invalid":         strings.Replace(eslint, `"severity":2`, `"severity":2,,`, 1),
		"a test event":    `{"Time":"2026-01-02T03:04:05Z","Action":"run","Package":"a"}`,
		"annotation":      "::error::no file\n::group::Install\n::debug file=a::x\n::error file=a.py::",
		"too large":       "[\n" + strings.Repeat(strings.Repeat("{", 60_000)+"\n", maxReport/60_000+1),
	} {
		t.Run(name, func(t *testing.T) {
			if got, decoded := decode(in); got != in+"\n" && got != in || decoded {
				t.Errorf("decoded %t:\n%.300s", decoded, got)
			}
		})
	}
}
