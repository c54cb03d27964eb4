package lint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

func TestGroupByRule(t *testing.T) {
	for name, tt := range map[string]struct {
		parameters string
		run        strategy.Run
		in, want   string
		confidence strategy.Confidence
	}{
		"one's own format": {`location_pattern = '--> (\S+)', rule_pattern = '#\[warn\((.*?)\)\]'`, strategy.Run{},
			"warning: a\n --> src/lib.rs:1:2\n = note: #[warn(x::y)]\n\nwarning: a\n --> src/b.rs:3:4\n = note: #[warn(x::y)]\n\nwarning: b\n --> src/c.rs:3:4\n = " +
				"note: #[warn(z)]\n",
			"x::y (2 warnings):\nwarning: a\n --> src/lib.rs:1:2\n = note: #[warn(x::y)]\n  also src/b.rs:3:4\nz (1 warning):\nwarning: b\n --> src/c.rs:3:4\n = " +
				"note: #[warn(z)]\n3 warnings grouped (2 rules)\n", strategy.Full},
		"nothing of it":                {`location_pattern = '--> (\S+)', rule_pattern = '\[(\w+)\]'`, strategy.Run{}, "hello\n", "hello\n", strategy.Fallback},
		"no diagnostics":               {``, strategy.Run{}, "hello\nworld\n", "hello\nworld\n", strategy.Fallback},
		"failed, and nothing says why": {`noise = ["^Compiling"]`, strategy.Run{Exit: 1}, "Compiling a\nhello\n", "Compiling a\nhello\n", strategy.Fallback},
		"killed": {`noise = ["^Compiling"]`, strategy.Run{Exit: -1}, "Compiling a\nCompiling b\n", "Compiling a\nCompiling b\n",
			strategy.Fallback},
		"noise": {`noise = ["^Compiling"]`, strategy.Run{}, "Compiling a\nhello\n\nCompiling b\n", "hello\n\n(2 noise lines removed)\n",
			strategy.Full},
		"errors stay, warnings follow": {``, strategy.Run{Exit: 1},
			"a.c:1:2: warning: unused x [-Wunused]\n    1 | int x;\n      |     ^\na.c: In function 'f':\na.c:5:2: error: no y\n    5 | y;\n      | ^\nb.c:1:2: " +
				"warning: unused x [-Wunused]\n    1 | int x;\n      |     ^\ngcc failed\n",
			"a.c: In function 'f':\na.c:5:2: error: no y\n    5 | y;\n      | ^\n\na.c:1:2: warning: unused x [-Wunused]\n  also b.c:1:2\n1 error, " +
				"2 warnings, 2 of them grouped (1 rule)\ngcc failed\n", strategy.Full},
		"the same place twice": {``, strategy.Run{},
			"A.cs(1,2): warning CS0168: unused [/p/a.csproj]\nA.cs(1,2): warning CS0168: unused [/p/a.csproj]\nB.cs(1,2): warning CS0168: unused [/p/a.csproj]\n",
			"A.cs(1,2): warning CS0168: unused [/p/a.csproj]\n  also B.cs(1,2)\n2 warnings grouped (1 rule)\n", strategy.Full},
		"its own summary": {``, strategy.Run{}, "a.go:1:2: x (lint)\n  also b.go:1:2\n3 issues grouped (1 rule)\n",
			"a.go:1:2: x (lint)\n  also b.go:1:2\n3 issues grouped (1 rule)\n", strategy.Fallback},
		"a table": {`table = ["kB$"], table_rows = 4`, strategy.Run{}, "build\n" + strings.Repeat("a 1 kB\n", 3) + strings.Repeat("b 2 kB\n", 5) + "done\n",
			"build\na 1 kB\na 1 kB\n... (4 lines omitted) ...\nb 2 kB\nb 2 kB\ndone\n", strategy.Full},
		"the program's own words": {`noise = ["^Compiling"], program_pattern = "^Running"`, strategy.Run{},
			"Compiling a\nRunning x\nCompiling b\na.c:1:2: warning: z [-Wz]\n", "Running x\nCompiling b\na.c:1:2: warning: z [-Wz]\n(1 noise lines removed)\n",
			strategy.Full},
		"text after the last command": {`echo = ["^(cc|ar) -"]`, strategy.Run{}, "cc -c a.c\ncc -c b.c\n[2/2] packed\ndone\n",
			"[2/2] packed\ndone\n(2 noise lines removed)\n", strategy.Full},
		"cut out by grep": {``, strategy.Run{}, "warning: unused a\n --> a.rs:1:2\n  |\n--\nwarning: unused a\n --> b.rs:1:2\n  |\n--\nwarning: other\n",
			"--\n\nwarning: unused a\n  --> a.rs:1:2\n  also b.rs:1:2\n2 warnings grouped (1 rule)\n--\nwarning: other\n", strategy.Full},
		"two forms of shellcheck": {``, strategy.Run{Exit: 1},
			"In a.sh line 3:\ncd $1\n^---^ SC2164 (warning): Use x.\n\nDid you mean: \ncd \"$1\"\n\nFor more information:\n  https://w/SC2164 -- Use x\n" +
				"a.sh:3:1: warning: Use x. [SC2164]\n[{\"file\":\"a.sh\"}]\n",
			"In a.sh line 3:\n^---^ SC2164 (warning): Use x.\na.sh:3:1: warning: Use x. [SC2164]\n2 warnings grouped (1 rule)\n[{\"file\":\"a.sh\"}]\n" +
				"(4 noise lines removed)\n", strategy.Full},
		"as many of each file": {``, strategy.Run{},
			"a.c:1:2: warning: unused x [-Wunused]\n1 warning generated.\nb.c:1:2: warning: unused x [-Wunused]\n1 warning generated.\n",
			"1 warning generated.\n\na.c:1:2: warning: unused x [-Wunused]\n  also b.c:1:2\n2 warnings grouped (1 rule)\n(1 noise lines removed)\n", strategy.Full},
		"labels that differ": {``, strategy.Run{Exit: 1},
			"error[bad-return]: Wrong type\n --> a.py:1:2\n  |\n1 | def f() -> str:\n  |            --- because of this\n2 |     return 1\n  |            ^ found " +
				"`int`\n\nerror[bad-return]: Wrong type\n --> b.py:4:2\n  |\n4 | return None\n  |        ^^^^ found `None`\n\nerror[bad-return]: Wrong type\n --> " +
				"c.py:5:2\n  |\n5 | return 2\n  |        ^ found `int`\n",
			"error[bad-return]: Wrong type\n --> a.py:1:2\n  |\n1 | def f() -> str:\n  |            --- because of this\n2 |     return 1\n  |            ^ found " +
				"`int`\n\nbad-return (2 errors):\nWrong type\n  also b.py:4:2 (found `None`) c.py:5:2\n3 errors, 2 of them grouped (1 rule)\n", strategy.Full},
		"a note of several places": {``, strategy.Run{},
			"a.c:1:2: warning: falls through [-Wf]\na.c:2:2: note: here\nb.c:1:2: warning: falls through [-Wf]\nb.c:2:2: note: here\nc.c:1:2: warning: falls " +
				"through [-Wf]\nc.c:2:2: note: here\nb.c:1:2: warning: falls through [-Wf]\nb.c:2:2: note: here\n",
			"a.c:1:2: warning: falls through [-Wf]\n  a.c:2:2: note: here\n    also b.c:2:2 c.c:2:2\n  also b.c:1:2 c.c:1:2\n3 warnings grouped (1 rule)\n",
			strategy.Full},
		"hunks of a formatter": {``, strategy.Run{Exit: 1},
			"unformatted: File would be reformatted\n --> a.py:1:1\n  |\n1 + x = 1\n" +
				"--------------------------------------------------------------------------------\n9 + y = 1\n  |\n\nunformatted: File would be reformatted\n --> " +
				"b.py:1:1\n  |\n1 + x = 1\n  |\n\n2 files would be reformatted\n",
			"unformatted: File would be reformatted\n  --> a.py:1:1\n  also b.py:1:1\n2 issues grouped (1 rule)\n\n2 files would be reformatted\n", strategy.Full},
		"code that is there twice": {``, strategy.Run{Exit: 8},
			"a.py:1:0: R0801: Similar lines in 2 files\n==a:[1:4]\n==b:[1:4]\nx = 1\n\ndef f():\n    return x (duplicate-code)\n\nRated at 3/10\n",
			"a.py:1:0: R0801: Similar lines in 2 files\n  ==a:[1:4]\n  ==b:[1:4]\n1 issue grouped (1 rule)\n\nRated at 3/10\n", strategy.Full},
		"errors of sbt": {``, strategy.Run{Exit: 1},
			"[error] /p/A.scala:3:15: type mismatch;\n[error]  found   : String\n[error]  required: Int\n[error]   val x: Int = s\n[error]                ^\n[warn] " +
				"/p/B.scala:1:2: x is never used\n[warn]   val x = 1\n[warn]       ^\n[warn] /p/C.scala:1:2: x is never used\n[warn]   val x = 1\n[warn]       ^\n" +
				"[error] one error found\n",
			"[error] /p/A.scala:3:15: type mismatch;\n[error]  found   : String\n[error]  required: Int\n[error]   val x: Int = s\n[error]                ^\n\n" +
				"[warn] /p/B.scala:1:2: x is never used\n  also /p/C.scala:1:2\n1 error, 2 warnings, 2 of them grouped (1 rule)\n[error] one error found\n", strategy.Full},
		"errors in the tool's words": {``, strategy.Run{Exit: 1},
			"a.py:1: error: No x  [name]\na.py:2: warning: No z  [w]\nb.py:1: error: No x  [name]\nb.py:2: warning: No z  [w]\nb.py:4: warning: No z  [w]\nFound 2 " +
				"errors in 2 files\n",
			"a.py:1: error: No x  [name]\nb.py:1: error: No x  [name]\na.py:2: warning: No z  [w]\n  also b.py:2 b.py:4\n2 errors, 3 warnings grouped (2 rules)\n" +
				"Found 2 errors in 2 files\n", strategy.Full},
		"code at the begin of a line": {``, strategy.Run{Exit: 1},
			"A.java:1: error: no x\nclass A { x y; }\n          ^\n  symbol: class x\nA.java:1: warning: [raw] found raw type: List\nclass A { x y; List z; }\n     " +
				"          ^\n1 error\n1 warning\n",
			"A.java:1: error: no x\nclass A { x y; }\n          ^\n  symbol: class x\n\nA.java:1: warning: [raw] found raw type: List\n" +
				"1 error, 1 warning, 1 of them grouped (1 rule)\n" +
				"1 error\n1 warning\n", strategy.Full},
		"code at the begin of a line below a note": {``, strategy.Run{Exit: 1},
			"a.swift:8:5: error: no member 'weigh'\n    crate.weigh()\n    ~~~~~ ^~~~~\na.swift:3:8: note: 'Crate' declared here\nstruct Crate {\n       ^\n" +
				"a.swift:9:9: warning: never mutated\n    var x = 3\n        ^\nerror: fatalError\n",
			"a.swift:8:5: error: no member 'weigh'\n    crate.weigh()\n    ~~~~~ ^~~~~\na.swift:3:8: note: 'Crate' declared here\nstruct Crate {\n       ^\n\n" +
				"a.swift:9:9: warning: never mutated\n1 error, 1 warning, 1 of them grouped (1 rule)\nerror: fatalError\n", strategy.Full},
		"attempts at one place": {``, strategy.Run{Exit: 1},
			"a.cc:5:3: error: no match for 'x'\n    5 |   x(v);\n      |   ^\na.h:1:5: note: candidate 1\n    1 | f1();\n      |   ^\na.cc:5:4: note: no conversion " +
				"1\n    5 |   x(v);\n      |    ^\na.h:2:5: note: candidate 2\n    2 | f2();\n      |   ^\na.cc:5:4: note: no conversion 2\n    5 |   x(v);\n      |   " +
				" ^\na.h:3:5: note: candidate 3\n    3 | f3();\n      |   ^\na.cc:5:4: note: no conversion 3\n    5 |   x(v);\n      |    ^\na.h:4:5: note: candidate " +
				"4\n    4 | f4();\n      |   ^\na.cc:5:4: note: no conversion 4\n    5 |   x(v);\n      |    ^\na.h:5:5: note: candidate 5\n    5 | f5();\n      |   " +
				"^\na.cc:5:4: note: no conversion 5\n    5 |   x(v);\n      |    ^\nb.cc:1:2: error: no y\n    1 | y\n      | ^\n",
			"a.cc:5:3: error: no match for 'x'\n    5 |   x(v);\n      |   ^\na.h:1:5: note: candidate 1\n    1 | f1();\n      |   ^\na.cc:5:4: note: no conversion " +
				"1\n    5 |   x(v);\n      |    ^\na.h:2:5: note: candidate 2\n    2 | f2();\n      |   ^\na.cc:5:4: note: no conversion 2\na.h:3:5: note: candidate " +
				"3\n    3 | f3();\n      |   ^\na.cc:5:4: note: no conversion 3\na.h:4:5: note: candidate 4\n    4 | f4();\n      |   ^\n... (3 lines omitted) ...\n" +
				"a.h:5:5: note: candidate 5\n    5 | f5();\n      |   ^\n... (3 lines omitted) ...\nb.cc:1:2: error: no y\n    1 | y\n      | ^\n(1 noise lines " +
				"removed)\n", strategy.Full},
		"places that belong to an error": {``, strategy.Run{Exit: 2},
			"src/a.ts:5:7 - error TS2322: Type 'a' is not b.\n\n5 const o = 1;\n        ~\n\n  src/a.ts:1:2\n    1 type T = 1;\n           ~\n    The expected type " +
				"comes from here\n\n" +
				"src/b.ts:5:7 - error TS2322: Type 'a' is not b.\n\n5 const o = 1;\n        ~\n\n  src/b.ts:1:2\n    1 type T = 1;\n           ~\n    The expected type " +
				"comes from here\n\nFound 2 errors.\n",
			"src/a.ts:5:7 - error TS2322: Type 'a' is not b.\n\n5 const o = 1;\n        ~\n\n  src/a.ts:1:2\n    1 type T = 1;\n           ~\n    The expected type " +
				"comes from here\n\nTS2322 (1 error):\nsrc/b.ts:5:7 - error TS2322: Type 'a' is not b.\n  src/a.ts:1:2\n  The expected type comes from here\n  " +
				"src/b.ts:1:2\n2 errors, 1 of them grouped (1 rule)\nFound 2 errors.\n", strategy.Full},
		"a program's words look like an error": {``, strategy.Run{Exit: 2},
			"ok.c: In function 'main':\nok.c:3:17: warning: unused variable 'u' [-Wunused-variable]\n    3 | int main(void) { int u; return 0; }\n      |           " +
				"           ^\n./prog2\nmain.go:3: error: not real\nmake: *** [Makefile:15: run] Error 1\n",
			"./prog2\nmain.go:3: error: not real\n\nok.c:3:17: warning: unused variable 'u' [-Wunused-variable]\n" +
				"1 error, 1 warning, 1 of them grouped (1 rule)\nmake: *** [Makefile:15: run] Error 1\n", strategy.Full},
		"mypy, wrapped and with its context": {``, strategy.Run{Exit: 1},
			"x.py: note: In function \"f\":\nx.py:2: error: Incompatible return value type (got \"int\", expected \"str\")\n [return-value]\n    return x\n         " +
				"  ^\ny.py: note: In function \"f\":\ny.py:2: error: Incompatible return value type (got \"int\", expected \"str\")\n [return-value]\n    return x\n   " +
				"        ^\nFound 2 errors\n",
			"x.py: note: In function \"f\":\nx.py:2: error: Incompatible return value type (got \"int\", expected \"str\")\n [return-value]\n    return x\n         " +
				"  ^\n\nreturn-value (1 error):\ny.py:2: error: Incompatible return value type (got \"int\", expected \"str\") [return-value]\n" +
				"2 errors, 1 of them grouped (1 rule)\nFound 2 errors\n", strategy.Full},
		"rows with a code": {``, strategy.Run{Exit: 1},
			"a.py:\n   1:1  E401 [*] Multiple imports on one line\n   1:8  F401 [*] `os` imported but unused\n\nb.py:\n  12:1  E401 [*] Multiple imports on one " +
				"line\n\nFound 3 errors.\n",
			"a.py:1:1  E401 [*] Multiple imports on one line\n  also b.py:12:1\na.py:1:8  F401 [*] `os` imported but unused\n3 issues grouped (2 rules)\n\nFound " +
				"3 errors.\n", strategy.Full},
		"commands that one asked for": {`except = ["^make( .*)? -n"], noise = ["^mkdir"]`, strategy.Run{Command: "make -n all"}, "mkdir -p build\ngcc -c a.c\n",
			"mkdir -p build\ngcc -c a.c\n", strategy.Fallback},
		"a linker's error": {`echo = ["^g?make.*directory "]`, strategy.Run{Exit: 2},
			"make[1]: Entering directory '/p'\ngcc -c a.c\ngcc -o app a.o\n/usr/bin/ld: a.o: in function `main':\na.c:(.text+0xc): undefined reference to `f'\n" +
				"collect2: error: ld returned 1 exit status\nmake[1]: *** [Makefile:3: app] Error 1\nmake[1]: Leaving directory '/p'\nmake: *** [Makefile:9: " +
				"all] Error 2\n",
			"gcc -o app a.o\nmake[1]: Entering directory '/p'\n/usr/bin/ld: a.o: in function `main':\na.c:(.text+0xc): undefined reference to `f'\ncollect2: error: " +
				"ld returned 1 exit status\nmake[1]: *** [Makefile:3: app] Error 1\nmake: *** [Makefile:9: all] Error 2\n(2 noise lines removed)\n", strategy.Full},
		"commands": {`echo = ["^mkdir"]`, strategy.Run{Exit: 2},
			"mkdir -p build\ngcc -O2 -c -o a.o a.c\ngcc -O2 -c -o b.o b.c\nb.c:1:2: error: no\nmake: *** [Makefile:3: b.o] Error 1\n",
			"gcc -O2 -c -o b.o b.c\nb.c:1:2: error: no\nmake: *** [Makefile:3: b.o] Error 1\n(2 noise lines removed)\n", strategy.Full},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["group_by_rule"], tt.parameters)
			got, confidence := strategytest.Filter(t, s, tt.run, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, tt.run, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}

// A note that stays with its error after other lines has no rule to which the
// end of a wrapped message could belong.
func TestNoteThenRule(t *testing.T) {
	in := "noise\na.c:1:2: error: no x\n    1 | x;\nhello\na.c:3:4: note: it was\nhere [-Wfoo]\n"
	for _, exit := range []int{0, 1} {
		got, _ := strategytest.Filter(t, strategytest.Make(t, Strategies["group_by_rule"], `noise = ["^noise"]`), strategy.Run{Exit: exit}, in)
		for _, line := range []string{"a.c:1:2: error: no x\n", "a.c:3:4: note: it was\n", "here [-Wfoo]\n"} {
			if !strings.Contains(got, line) {
				t.Errorf("exit %d: %q is gone from %q", exit, line, got)
			}
		}
	}
}

func TestGroupByRuleParameters(t *testing.T) {
	for parameters, want := range map[string]string{
		`location_pattern = "x"`: "belong together", `location_pattern = "x", rule_pattern = "y"`: "has no group",
		`location_pattern = "(", rule_pattern = "(y)"`: "location_pattern",
		`noise = ["("]`: "noise", `echo = ["("]`: "echo", `table = ["("]`: "table", `program_pattern = "("`: "program_pattern", `table_rows = 1`: "table_rows",
		`max_errors = -1`: "max_errors", `rule = "x"`: `unknown key "rule"`,
	} {
		if _, err := strategytest.Build(Strategies["group_by_rule"], parameters); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", parameters, err, want)
		}
	}
}

func TestLocate(t *testing.T) {
	for line, want := range map[string]string{ // severity, file, position, rule and message; empty means no diagnostic
		"src/a.c:3:4: error: no x":                                                       "error|src/a.c|:3:4||no x",
		"src/a.c:3:4: warning: unused [-Wunused]":                                        "warning|src/a.c|:3:4|-Wunused|unused",
		"src/a.c:3: fatal error: x.h: No such file or directory":                         "error|src/a.c|:3||x.h: No such file or directory",
		"C:\\x\\a.cs(3,4): error CS0103: no x [C:\\x\\a.csproj]":                         "error|C:\\x\\a.cs|(3,4)|CS0103|no x",
		"  1>/p/A.cs(3,4): warning CS0168: unused [/p/a.csproj::TargetFramework=net8.0]": "warning|/p/A.cs|(3,4)|CS0168|unused",
		"a.cpp(12): error C2065: 'x': undeclared":                                        "error|a.cpp|(12)|C2065|'x': undeclared",
		"src/a.ts(3,4): error TS2322: Type 'a' is not b.":                                "error|src/a.ts|(3,4)|TS2322|Type 'a' is not b.",
		"src/a.ts:3:4 - error TS2322: Type 'a' is not b.":                                "error|src/a.ts|:3:4|TS2322|Type 'a' is not b.",
		"  /p/a.py:3:4 - error: \"x\" is not defined (reportUndefinedVariable)":          "error|/p/a.py|:3:4|reportUndefinedVariable|\"x\" is not defined",
		"app/a.py:3: error: Name \"x\" is not defined  [name-defined]":                   "error|app/a.py|:3|name-defined|Name \"x\" is not defined",
		"app/a.py:3:4: F401 [*] `os` imported but unused":                                "issue|app/a.py|:3:4|F401|[*] `os` imported but unused",
		"app/a.py:3:0: C0114: Missing module docstring (missing-module-docstring)": "issue|app/a.py|:3:0|C0114|Missing module docstring " +
			"(missing-module-docstring)",
		"app/a.py:3:0: E0602: Undefined variable 'x' (undefined-variable)":            "error|app/a.py|:3:0|E0602|Undefined variable 'x' (undefined-variable)",
		"a.rb:3:4: C: [Correctable] Style/Strings: Prefer double quotes.":             "issue|a.rb|:3:4|Style/Strings|Prefer double quotes.",
		"x/a.go:3:4: Error return value of `f` is not checked (errcheck)":             "issue|x/a.go|:3:4|errcheck|Error return value of `f` is not checked",
		"x/a.go:3:4: SA4006: never used (staticcheck)":                                "issue|x/a.go|:3:4|SA4006|never used (staticcheck)",
		"x/a.go:3:4: should not use dot imports (ST1001)":                             "issue|x/a.go|:3:4|ST1001|should not use dot imports",
		"app/a.py:3: [C0116(missing-function-docstring), Cart.add] Missing docstring": "issue|app/a.py|:3|C0116|Missing docstring",
		"app/a.py:3: [E0602(undefined-variable), ] Undefined variable 'x'":            "error|app/a.py|:3|E0602|Undefined variable 'x'",
		"/p/a.js(3,4): warning no-var : Unexpected var":                               "warning|/p/a.js|(3,4)|no-var|Unexpected var",
		"./x.go:3:4: undefined: y":                                                    "",
		"/p/a.js:3:4: Missing semicolon. [Error/semi]":                                "error|/p/a.js|:3:4|semi|Missing semicolon.",
		"/p/a.js: line 3, col 4, Warning - Missing semicolon. (semi)":                 "warning|/p/a.js|: line 3, col 4|semi|Missing semicolon.",
		"README.md:3:81 MD013/line-length Line length [Expected: 80; Actual: 90]": "issue|README.md|:3:81|MD013/line-length|Line length [Expected: 80; " +
			"Actual: 90]",
		"README.md:3 error MD041/first-line-heading First line":                  "error|README.md|:3|MD041/first-line-heading|First line",
		"Dockerfile:3 DL3008 warning: Pin versions":                              "warning|Dockerfile|:3|DL3008|Pin versions",
		"a.sh:3:4: note: Double quote to prevent globbing. [SC2086]":             "note|a.sh|:3:4|SC2086|Double quote to prevent globbing.",
		"a.yml:3:4: [warning] too many spaces (commas)":                          "warning|a.yml|:3:4|commas|too many spaces",
		"[ERROR] /p/A.java:[3,4] cannot find symbol":                             "error|/p/A.java|:[3,4]||cannot find symbol",
		"[WARNING] /p/A.java:[3,4] [deprecation] f() in A has been deprecated":   "warning|/p/A.java|:[3,4]|deprecation|f() in A has been deprecated",
		"A.java:3: error: ';' expected":                                          "error|A.java|:3||';' expected",
		"w: file:///p/A.kt:3:4 Variable 'x' is never used":                       "warning|/p/A.kt|:3:4||Variable 'x' is never used",
		"e: /p/A.kt: (3, 4): Unresolved reference: x":                            "error|/p/A.kt|: (3, 4)||Unresolved reference: x",
		"/p/A.kt:3:4: Unused import (standard:no-unused-imports)":                "issue|/p/A.kt|:3:4|standard:no-unused-imports|Unused import",
		"/p/a.swift:3:4: warning: Line Length Violation: too long (line_length)": "warning|/p/a.swift|:3:4|line_length|Line Length Violation: too long",
		"/p/a.cpp:3:4: warning: use nullptr [modernize-use-nullptr]":             "warning|/p/a.cpp|:3:4|modernize-use-nullptr|use nullptr",
		"Makefile:13: warning: overriding recipe for target 'x'":                 "warning|Makefile|:13||overriding recipe for target 'x'",
		"2024-01-02T10:20:30 INFO started":                                       "",
		"10:20:30: error: x":                                                     "",
		"http://localhost:3000: error: refused":                                  "",
		"/p/main.go:12 (0x49a8c5)":                                               "",
		"src/main.rs:17:39:":                                                     "",
		"/p/BUILD:3:10: Compiling failed: (Exit 1)":                              "",
		"see foo (bar):3: hello":                                                 "",
		"main.go:12: listening on :8080":                                         "",
		"goroutine 1 [running]:":                                                 "",
		"\tat com.x.Foo.bar(Foo.java:12)":                                        "",
		"    a_test.go:12: got 1, want 2":                                        "",
		"test result: ok. 5 passed; 0 failed":                                    "",
	} {
		p, ok := locate([]byte(line))
		got := ""
		if ok && !p.leadsIn {
			got = fmt.Sprintf("%s|%s|%s|%s|%s", p.sev.plural(1), p.file, p.pos, p.rule, p.msg)
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", line, got, want)
		}
	}
}

func TestCommandOf(t *testing.T) {
	for line, want := range map[string]commandKind{
		"gcc -O2 -c -o a.o a.c": otherCommand, "gcc -o app a.o b.o": linkCommand, "  CC      a.o": otherCommand, "  LD      vmlinux": linkCommand,
		"  LD [M]  drivers/x.ko":              otherCommand,
		"/usr/bin/c++ -DX -o x.o -c /p/x.cpp": otherCommand, "ar rcs libx.a a.o": linkCommand, "arm-none-eabi-gcc -c a.c": otherCommand,
		"x86_64-linux-gnu-g++-12 -c a.cc":                        otherCommand,
		"/bin/bash ./libtool --tag=CC --mode=compile gcc -c a.c": otherCommand, "ccache gcc -c a.c": otherCommand, "CGO=1 gcc -c a.c": otherCommand,
		"[3/9] /usr/bin/c++ -c a.cc": otherCommand, "[3/9] : && /usr/bin/c++ a.o -o good && :": linkCommand,
		"cc is a compiler": noCommand, "ld: symbol not found": noCommand, "  PASS  a/b.test": noCommand, "  ERROR  x.y": noCommand,
		"gcc: error: no input files": noCommand, "install failed": noCommand,
		"strip": noCommand, "": noCommand, "as expected, it failed": noCommand,
	} {
		if got := commandOf([]byte(line)); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	for base, msg := range map[string]string{
		"unused variable: `a`": "unused variable: `b`", "line too long (120 > 79)": "line too long (99 > 79)", "'x' is not defined": "'y' is not defined",
		"use of ‘a’ isn't safe": "use of ‘b’ isn't safe",
	} {
		if !bytes.Equal(appendShape(nil, []byte(base)), appendShape(nil, []byte(msg))) {
			t.Errorf("%q and %q differ in shape", base, msg)
		}
	}
	if got := string(shapeDifference([]byte("Item \"a\" of \"b\" has 1"), []byte("Item \"a\" of \"c\" has 2"))); got != `"c" 2` {
		t.Errorf("the difference is %s, want \"c\" 2", got)
	}
}

// TestGroupsManyDiagnostics checks that no place is lost beyond the limit of
// the store.
func TestGroupsManyDiagnostics(t *testing.T) {
	lines := 120_000
	if strategytest.Racing {
		lines = 30_000
	}
	var in strings.Builder
	for i := range lines {
		fmt.Fprintf(&in, "src/file%d.py:%d:1: E501 line %d too long (%d > 79)\n", i%977, i, i%31, i%50)
	}
	got, confidence := strategytest.Filter(t, strategytest.Make(t, Strategies["group_by_rule"], ""), strategy.Run{Exit: 1}, in.String())
	if confidence != strategy.Full || len(got) > in.Len() {
		t.Fatalf("%s, %d of %d bytes", confidence, len(got), in.Len())
	}
	for i := range lines {
		if place := fmt.Sprintf("src/file%d.py:%d:1", i%977, i); i%1000 == 7 && !strings.Contains(got, place) {
			t.Fatalf("lost %s", place)
		}
	}
}

// groupRules are the parameters of several built-in rules at once, so that the
// fuzz test reaches all of the strategy.
const groupRules = `noise = ["^   Compiling", "^> Task :x UP"], echo = ["^make: Entering directory ", "^cd "], table = ["kB$"], table_rows = 2, program_pattern = "^ *Running ", max_errors = 2`

// FuzzGroupByRule checks that the result is valid, not larger, and unchanged
// when it is filtered again.
func FuzzGroupByRule(f *testing.F) {
	outputs, err := filepath.Glob("../testdata/samples/*/*/output")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range outputs {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text[:min(len(text), 4000)]), 1)
	}
	f.Add("In a.sh line 3:\nx\n^-- SC2086 (info): y\n\nDid you mean:\nz\n", 0)
	f.Add("warning: a\n --> b.rs:1:2\n  |\n1 | x\n  | ^ y\n  = note: `#[warn(z)]` on by default\n\n", 0)
	f.Fuzz(func(t *testing.T, body string, exit int) {
		var in strings.Builder
		last := true // no consecutive blank lines, and none at the start
		for line := range strings.Lines(string(text.Sanitize([]byte(body)))) {
			if blank := strings.TrimSpace(line) == ""; !blank || !last {
				in.WriteString(line)
				last = blank
			}
		}
		for _, parameters := range []string{"", groupRules, `location_pattern = '(\w+:\d+)', rule_pattern = '\[(\w+)\]'`} {
			s := strategytest.Make(t, Strategies["group_by_rule"], parameters)
			got, confidence := strategytest.Filter(t, s, strategy.Run{Exit: exit}, in.String())
			if confidence == strategy.Fallback || len(got) >= in.Len() {
				continue
			}
			if strings.ContainsRune(got, 1) || strings.Contains(got, "\n\n\n") {
				t.Errorf("the result has a mark of the grouping or two empty lines: %q", got)
			}
			if again, c := strategytest.Filter(t, s, strategy.Run{Exit: exit}, got); c != strategy.Fallback && len(again) < len(got) {
				t.Errorf("%s: %q, again %q", parameters, got, again)
			}
		}
	})
}
