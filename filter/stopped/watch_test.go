package stopped

import (
	"strings"
	"testing"
)

// The lines of tests and tasks in progress, of the last steps and of the end stay.
func TestWatch(t *testing.T) {
	for name, tt := range map[string]struct {
		output, want string
		more         int
	}{
		"nothing": {"", "", 0},
		"the end": {"a\nb\nc\n\nd ...", "b|c|d ...", 0},
		"a test that runs alone": {
			"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/x\n=== RUN   TestB/y\n=== RUN   TestB/y/z\n1\n2\n3",
			"=== RUN   TestB|=== RUN   TestB/y|=== RUN   TestB/y/z|1|2|3", 0,
		},
		"a test after a parallel one": {
			"=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== RUN   TestB/x\n--- PASS: TestB (0.00s)\n    --- PASS: TestB/x (0.00s)\n=== CONT  TestA\n1\n2\n3",
			"=== CONT  TestA|1|2|3", 0,
		},
		"parallel tests": {
			"=== CONT  TestA\n=== CONT  TestB\n=== CONT  TestC\n--- FAIL: TestB (0.00s)\n    a_test.go:3: no\n1\n2\n3", "=== CONT  TestA|=== CONT  TestC|1|2|3", 0,
		},
		"events": {
			`{"Action":"start","Package":"p"}` + "\n" + `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"run","Package":"p","Test":"TestB"}` + "\n" +
				`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}` + "\n1\n2\n3",
			`{"Action":"run","Package":"p","Test":"TestB"}|1|2|3`, 0,
		},
		"pytest with two processes": {
			"t/test_a.py::test_x \nt/test_a.py::test_y[a b] \n[gw1] [  1%] PASSED t/test_a.py::test_x \n1\n2\n3", "t/test_a.py::test_y[a b] |1|2|3", 0,
		},
		"unittest": {
			"test_a (m.T.test_a) ... ok\ntest_b (m.T.test_b) ... INFO: x\nok\ntest_c (m.T.test_c) ... INFO: y\n1\n2\n3",
			"test_c (m.T.test_c) ... INFO: y|1|2|3", 0,
		},
		"googletest": {"[ RUN      ] A.x\n[       OK ] A.x (0 ms)\n[ RUN      ] A.y\n1\n2\n3", "[ RUN      ] A.y|1|2|3", 0},
		"ctest":      {"    Start 1: a\n1/2 Test #1: a .....   Passed    0.00 sec\n    Start 2: b\n1\n2\n3", "    Start 2: b|1|2|3", 0},
		"Maven": {
			"[INFO] --- surefire:3.2.5:test (default-test) @ calc ---\n[INFO] Running x.ATest\n[INFO] Tests run: 1, Failures: 0, Time elapsed: 0.1 s -- in x.ATest\n" +
				"[INFO] Running x.BTest\n1\n2\n3",
			"[INFO] --- surefire:3.2.5:test (default-test) @ calc ---|[INFO] Running x.BTest|1|2|3", 0,
		},
		"Gradle": {
			"> Task :compileJava\n> Task :test\nATest > a() STARTED\nATest > a() PASSED\nBTest > b() STARTED\n1\n2\n3",
			"> Task :test|BTest > b() STARTED|1|2|3", 0,
		},
		"Playwright": {"      1 a.js:2:3 › x\n  ✓   1 a.js:2:3 › x (6ms)\n      2 a.js:4:3 › y\n1\n2\n3", "      2 a.js:4:3 › y|1|2|3", 0},
		"docker":     {"#4 [1/3] FROM x\n#4 DONE 0.1s\n#5 [2/3] RUN make\n#6 [3/3] RUN y\n#6 CACHED\n1\n2\n3", "#5 [2/3] RUN make|1|2|3", 0},
		"terraform": {
			"a.x: Creating...\nb.y: Creating...\na.x: Creation complete after 1s [id=7]\nb.y: Still creating... [10s elapsed]\n1\n2\n3",
			"b.y: Still creating... [10s elapsed]|1|2|3", 0,
		},
		"steps": {
			"collected 9 items\nCompiling a v1\nCompiling b v1\nInstalling x\nDownloading y\nthe running man\nTASK [a] ***\nTASK [b] ***\n1\n2\n3",
			"Installing x|Downloading y|TASK [b] ***|1|2|3", 0,
		},
		"many": {
			"=== CONT  TestA/" + strings.Join(strings.Fields("a b c d e f g h i j k"), "\n=== CONT  TestA/") + "\n1\n2\n3",
			"=== CONT  TestA/" + strings.Join(strings.Fields("d e f g h i j k"), "|=== CONT  TestA/") + "|1|2|3", 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var w Watch
			for l := range strings.SplitSeq(tt.output, "\n") {
				w.Line([]byte(l))
			}
			lines, more := w.Lines()
			var got []string
			for _, l := range lines {
				got = append(got, string(l))
			}
			if s := strings.Join(got, "|"); s != tt.want || more != tt.more {
				t.Errorf("got %q and %d more\nwant %q and %d", s, more, tt.want, tt.more)
			}
		})
	}
}
