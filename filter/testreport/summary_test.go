package testreport

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Each case is named after the part that it removes. All lines of keep stay,
// and all lines of gone go.
func TestTestSummary(t *testing.T) {
	for name, tt := range map[string]struct {
		parameters string
		run        strategy.Run
		in         string
		keep, gone []string
	}{
		"gotestsum, each test by its name": {
			parameters: `format = "go"`, run: strategy.Run{Exit: 1},
			in: "PASS cart.TestA/one (0.00s)\nPASS cart.TestA (0.00s)\n    cart_test.go:7: got 1, want 2\nFAIL cart.TestB (0.00s)\nFAIL cart\n\n=== Failed\n=== " +
				"FAIL: cart TestB (0.00s)\n    cart_test.go:7: got 1, want 2\n\nDONE 3 tests, 1 failure in 0.100s\n",
			keep: []string{"cart_test.go:7: got 1, want 2", "FAIL cart.TestB", "DONE 3 tests, 1 failure"}, gone: []string{"TestA"},
		},
		"go, a reason before its skipped test": {
			parameters: `format = "go"`, run: strategy.Run{Exit: 1},
			in: "=== RUN   TestA\n    a_test.go:3: started\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:9: needs docker\n--- SKIP: TestB (0.00s)\n=== " +
				"RUN   TestC\n    c_test.go:5: got 1\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\tshop\t0.01s\n",
			keep: []string{"b_test.go:9: needs docker", "--- SKIP: TestB", "c_test.go:5: got 1"}, gone: []string{"started"},
		},
		"go, verbose, the place of a failure after the first ones": {
			parameters: `format = "go", max_failures = 1`, run: strategy.Run{Exit: 1},
			in: manyFailures(9, "=== RUN   TestX%[1]d\n    x_test.go:7%[1]d: set up\n    x_test.go:8%[1]d: more about it\n"+
				"        and its details, which are long\n    x_test.go:%[1]d: got 1\n--- FAIL: TestX%[1]d (0.00s)\n") +
				"FAIL\nFAIL\tx\t0.1s\n",
			keep: []string{"x_test.go:1: got 1", "x_test.go:8: got 1", "--- FAIL: TestX8"}, gone: []string{"x_test.go:88: more about it"},
		},
		"pytest, the place of a failure after the first ones": {
			parameters: `format = "pytest", max_failures = 1`, run: strategy.Run{Exit: 1},
			in: "=================== FAILURES ===================\n" + manyFailures(9, "______________ test_x%[1]d ______________\n\n    def test_x%[1]d():\n"+
				">       assert f() == 2\nE       assert 1 == 2\n\ntests/test_x.py:1%[1]d: AssertionError\n") + "=========== 9 failed in 0.1s ===========\n",
			keep: []string{"  test_x8: tests/test_x.py:18: E       assert 1 == 2"}, gone: []string{"def test_x8"},
		},
		"gotestsum, testdox": {
			parameters: `format = "go"`, run: strategy.Run{Exit: 1},
			in: "shop/cart:\n ✓ Adds one (0.00s)\n ✓ Adds two of them (0.00s)\n ✓ Adds one more (0.00s)\n ✖ Drops (0.00s)\n\n=== Failed\n=== FAIL: cart " +
				"TestDrops (0.00s)\n    cart_test.go:7: got 1, want 2\n\nDONE 2 tests, 1 failure in 0.100s\n",
			keep: []string{" ✖ Drops", "got 1, want 2", "DONE 2 tests"}, gone: []string{"Adds one"},
		},
		"surefire, a recursion": {
			parameters: `format = "jvm"`, run: strategy.Run{Exit: 1},
			in: "[INFO] Running a.CartTest\n[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in a.CartTest\n[ERROR] " +
				"a.CartTest.adds -- Time elapsed: 0.01 s <<< ERROR!\njava.lang.IllegalStateException: no stock\n" +
				strings.Repeat("\tat a.Cart.deep(Cart.java:4)\n\tat a.Stock.deep(Stock.java:5)\n",
					60) + "\tat a.Cart.shallow(Cart.java:9)\n\tat a.CartTest.adds(CartTest.java:6)\n\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)\n\n" +
				"[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0\n",
			keep: []string{"no stock", "Cart.java:4", "Stock.java:5", "... (114 lines omitted) ...", "Cart.java:9", "CartTest.java:6"}, gone: []string{"ArrayList"},
		},
		"jest, from rootDir on": {
			run: strategy.Run{Exit: 1},
			in: "FAIL src/a/cart.test.js\n  ● cart › adds\n\n    Expected: 1\n    Received: 2\n\nFAIL src/b/cart.test.js\n  ● cart › adds\n\n    " +
				"Expected: 3\n    Received: 4\n\nSummary of all failing tests\nFAIL ./a/cart.test.js\n  ● cart › adds\n\n    Expected: 1\n    Received: 2\n\nFAIL " +
				"./b/cart.test.js\n  ● cart › adds\n\n    Expected: 3\n    Received: 4\n\nTests:       2 failed, 2 total\n",
			keep: []string{"FAIL src/a/cart.test.js", "Received: 2", "FAIL src/b/cart.test.js", "Received: 4", "2 failed, 2 total"}, gone: []string{"FAIL ./a"},
		},
		"jest, the first of two summaries cut off": {
			run: strategy.Run{Exit: 1},
			in: "  ● cart › adds\n\n    Received: 2\n\nSummary of all failing tests\nFAIL ./a/cart.test.js\n  ● cart › drops\n\n    Received: 5\n\nTests: " +
				"      2 failed, 2 total\n",
			keep: []string{"cart › adds", "Received: 2", "cart › drops", "Received: 5"},
		},
		"phpunit, how many": {
			run: strategy.Run{Exit: 1},
			in: "PHPUnit 9.6.0 by Sebastian Bergmann and contributors.\n\n..F                                 3 / 3 (100%)\n\nTime: 00:00.010, Memory: 6.00 MB\n\n" +
				"There was 1 failure:\n\n1) CartTest::testSum\nFailed asserting that 3 matches expected 4.\n\n/home/dev/project/CartTest.php:7\n\nFAILURES!\nTests: 3, " +
				"Assertions: 3, Failures: 1.\n",
			keep: []string{"There was 1 failure:", "1) CartTest::testSum", "matches expected 4", "CartTest.php:7", "Failures: 1."}, gone: []string{"PHPUnit 9", "..F"},
		},
		"vitest, progress of a terminal": {
			run: strategy.Run{Exit: 1},
			in: " RUN  v4.0.0 /p\n ❯ cart.test.js [queued]\n\n Test Files 0 passed (1)\n      Tests 0 passed (0)\n   Start at 18:12:59\n   Duration 329ms\n ❯ " +
				"cart.test.js (2 tests | 1 failed) 40ms\n     × sums 15ms\n\n FAIL  cart.test.js > sums\nAssertionError: expected 3 to be 4\n ❯ cart.test.js:3:76\n" +
				"\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n   Start at  18:12:58\n   Duration  400ms\n",
			keep: []string{"× sums", "expected 3 to be 4", "Test Files  1 failed (1)", "Tests  1 failed | 1 passed (2)"},
			gone: []string{"0 passed", "queued", "18:12:59", "329ms"},
		},
		"jest, progress of a terminal": {
			run: strategy.Run{Exit: 1},
			in: "Determining test suites to run...\n\n" + strings.Repeat(" RUNS  cart.test.js\n\n",
				9) + "FAIL cart.test.js\n  ● cart › sums\n\n    Expected: 1\n    Received: 2\n\nTests:       1 failed, 1 total\n",
			keep: []string{"FAIL cart.test.js", "Received: 2", "1 failed, 1 total"}, gone: []string{"RUNS", "Determining"},
		},
		"tap, subtests in braces": {
			run: strategy.Run{Exit: 1},
			in: "TAP version 13\n1..1\nnot ok 1 - cart.test.js # time=31.41ms {\n    1..2\n    not ok 1 - cart # time=30.39ms {\n        1..3\n        ok 1 - " +
				"adds # time=3.52ms\n        not ok 2 - sums # time=6.08ms\n            ---\n            error:\n                message: \"expected 3 to be 4\"\n     " +
				"       at: \"cart.test.js:3:76\"\n            ...\n        ok 3 - drops # time=0.1ms\n    }\n    ok 2 - shop # time=1.1ms {\n        1..1\n        ok " +
				"1 - opens # time=0.52ms\n    }\n}\n",
			keep: []string{"not ok 1 - cart.test.js", "not ok 1 - cart ", "not ok 2 - sums", "expected 3 to be 4", "cart.test.js:3:76"},
			gone: []string{"adds", "drops", "shop", "opens"},
		},
		"cargo, sums": {
			in: "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s\n" +
				"\nrunning 1 test\ntest c ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.00s\n",
			keep: []string{"test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out (2 runs)"}, gone: []string{"test a"},
		},
		"cargo, blocks of nothing": {
			run: strategy.Run{Exit: 101},
			in: "running 1 test\ntest b ... FAILED\n\nfailures:\n\n---- stdout ----\n----  stdout ----\n---- b stdout ----\nError: bad\n\nfailures:\n    b\n\n" +
				"test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
			keep: []string{"---- b stdout ----", "Error: bad", "test result: FAILED"},
		},
		"cargo, killed before the failures are told": {
			run: strategy.Run{Exit: 137},
			in: "     Running tests/api.rs (target/debug/deps/api-0123456789abcdef)\n\nrunning 4 tests\ntest a ... ok\ntest a_second_one ... ok\ntest b ... " +
				"FAILED\ntest c ... \n",
			keep: []string{"tests/api.rs", "running 4 tests", "test b ... FAILED", "test c ..."}, gone: []string{"test a"},
		},
		"cargo, a failure without words": {
			run: strategy.Run{Exit: 101},
			in: "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 " +
				"measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n",
			keep: []string{"    b", "test result: FAILED", "--lib"}, gone: []string{"test a"},
		},
		"cargo, more failures than stay": {
			parameters: "max_failures = 1", run: strategy.Run{Exit: 101},
			in: "running 7 tests\n\nfailures:\n\n" + cargoFailures(7) +
				"failures:\n    t1\n    t2\n\ntest result: FAILED. 0 passed; 7 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, " +
				"to rerun pass `--lib`\n",
			keep: []string{"---- t1 stdout ----", "print 20 of t1", "---- t5 stdout ----", "src/t5.rs:1:2", "left: 5\n", "right: -5", "... and 2 more failures:",
				"  t6: thread 't6' panicked at src/t6.rs:1:2: assertion `left == right` failed left: 6 right: -6"}, gone: []string{"print 20 of t2", "print 1 of t6"},
		},
		"cargo, why a test does not run": {
			in: "running 3 tests\ntest a ... ok\ntest b ... ignored\ntest c ... ignored, needs a network\n\ntest result: ok. 1 passed; 0 failed; 2 ignored; 0 " +
				"measured; 0 filtered out; finished in 0.00s\n",
			keep: []string{"test c ... ignored, needs a network"}, gone: []string{"test a", "test b"},
		},
		"pytest-sugar": {
			run: strategy.Run{Exit: 1},
			in: "Test session starts (platform: linux, Python 3.12.1, pytest 8.2.0, pytest-sugar 1.0.0)\nrootdir: /home/dev/project\ncollected 3 items\n\n " +
				"tests/test_cart.py ✓                        33% ███▍\n\n―――――――――――――――― test_adds " +
				"――――――――――――――――\n\n    def test_adds():\n>       assert add(1, 2) == 4\nE       assert 3 == 4\n\n" +
				"tests/test_cart.py:7: AssertionError\n\n tests/test_cart.py ⨯                        66% ██████▋\n\n" +
				"―――――――――――――――― test_drops ――――――――――――――――\n\n>       assert drop(1) == 2\nE       " +
				"assert 0 == 2\n\ntests/test_cart.py:9: AssertionError\n\n tests/test_cart.py ✓✓                      100% ██████████\n\n" +
				"Results (0.10s):\n       1 passed\n       2 failed\n         - tests/test_cart.py:5 test_adds\n         - tests/test_cart.py:8 test_drops\n",
			keep: []string{"― test_adds ―", "assert 3 == 4", "― test_drops ―", "assert 0 == 2", "2 failed", "- tests/test_cart.py:8 test_drops"},
			gone: []string{"rootdir", "33%", "66%", "100%"},
		},
		"pytest, failures at once": {
			run: strategy.Run{Exit: 1},
			in: "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.2.0, pluggy-1.5.0\n" +
				"collected 3 items\n\ntests/test_a.py .F\n\n__________________________________ test_adds ___________________________________\n\n>       assert add(1, " +
				"2) == 4\nE       assert 3 == 4\n\ntests/test_a.py:7: AssertionError\n\ntests/test_b.py .                                                        " +
				"[100%]\n\n=========================== short test summary info ============================\nFAILED tests/test_a.py::test_adds - assert 3 == 4\n" +
				"========================= 1 failed, 2 passed in 0.10s ==========================\n",
			keep: []string{"_ test_adds _", "E       assert 3 == 4", "tests/test_a.py:7", "FAILED tests/test_a.py::test_adds", "1 failed, 2 passed"},
			gone: []string{"tests/test_b.py", "platform"},
		},
		"pytest, a worker hangs": {
			run: strategy.Run{Exit: 124},
			in: "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.2.0, pluggy-1.5.0\n2 " +
				"workers [9 items]\n\ntests/test_a.py::test_hangs \ntests/test_a.py::test_1 \n[gw1] [ 11%] PASSED tests/test_a.py::test_1 \ntests/test_a.py::test_2 \n" +
				"[gw1] [ 12%] PASSED tests/test_a.py::test_2 \ntests/test_a.py::test_3 \n[gw1] [ 13%] PASSED tests/test_a.py::test_3 \ntests/test_a.py::test_4 \n[gw1] " +
				"[ 14%] PASSED tests/test_a.py::test_4 \ntests/test_a.py::test_5 \n[gw1] [ 15%] PASSED tests/test_a.py::test_5 \ntests/test_a.py::test_6 \n[gw1] [ " +
				"16%] PASSED tests/test_a.py::test_6 \ntests/test_a.py::test_7 \n[gw1] [ 17%] PASSED tests/test_a.py::test_7 \ntests/test_a.py::test_8 \n[gw1] [ 18%] " +
				"PASSED tests/test_a.py::test_8 \n",
			keep: []string{"tests/test_a.py::test_hangs"}, gone: []string{"test_1", "test_8"},
		},
		"pytest, a list of tests": {
			run:  strategy.Run{Command: "pytest --collect-only -q"},
			in:   "tests/test_a.py::test_adds\ntests/test_a.py::test_drops\ntests/test_b.py::test_sum[1-2]\n\n3 tests collected in 0.01s\n",
			keep: []string{"tests/test_a.py::test_adds", "tests/test_a.py::test_drops", "tests/test_b.py::test_sum[1-2]", "3 tests collected"},
		},
		"pytest, a list of tests after a run": {
			run: strategy.Run{Exit: 1},
			in: "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.2.0\n" +
				"collected 0 items / 1 error\n\n=========================== short test summary info ============================\nERROR pc/test_a.py\n" +
				"============================== 1 error in 1.43s ===============================\n" +
				strategytest.NumberedAs("tests/test_b.py::test_b%d\n", 0, 99) + "\n100 tests collected in 7.89s\n",
			keep: []string{"ERROR pc/test_a.py", "1 error in 1.43s ===============================\n" +
				strategytest.NumberedAs("tests/test_b.py::test_b%d\n", 0, 99) + "\n100 tests collected in 7.89s\n"},
		},
		"pytest, what did not simply pass": {
			in: "t.py::test_a PASSED                        [ 20%]\nt.py::test_b SKIPPED (needs a GPU)         [ 40%]\nt.py::test_c XFAIL (a bug)                 " +
				"[ 50%]\nt.py::test_d XPASS                         [ 60%]\nt.py::test_e RERUN                         [ 80%]\nt.py::test_e PASSED                     " +
				"   [100%]\n\n===== 2 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 rerun in 0.10s =====\n",
			keep: []string{"SKIPPED (needs a GPU)", "XFAIL (a bug)", "test_d XPASS", "test_e RERUN"}, gone: []string{"test_a", "test_e PASSED"},
		},
		"node and vitest, what did not simply pass": {
			in: " ✓ a.test.js > adds 1ms\n ✓ a.test.js > flaky 4ms (retry x2)\n ✓ a.test.js > sums 1ms\n  ﹣ asks (0.07ms) # needs a network\n ✓ " +
				"a.test.js > takes one more away 1ms\n Test Files  1 passed (1)\n      Tests  4 passed (4)\n",
			keep: []string{"flaky 4ms (retry x2)", "# needs a network", "4 passed (4)"}, gone: []string{"adds", "sums"},
		},
		"cargo, what was asked to be seen": {
			in: "running 2 tests\nx = 3\ntest a ... ok\ny = 4\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; " +
				"finished in 0.00s\n",
			keep: []string{"x = 3", "y = 4"}, gone: []string{"test a"},
		},
		"cargo, the end of a failed run alone": {
			in: "assertion `left == right` failed\n  left: 1\n right: 2\n\n\nfailures:\n    a\n    b\n\ntest result: FAILED. 7 passed; 2 failed; 0 ignored; 0 " +
				"measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n   Compiling x v1\n   Compiling y v1\n",
			keep: []string{"left: 1", "right: 2", "    a", "    b", "test result: FAILED"}, gone: []string{"Compiling"},
		},
		"nextest": {
			run: strategy.Run{Exit: 100},
			in: "    Starting 3 tests across 1 binary\n        PASS [   0.010s] shop a\n        FAIL [   0.004s] shop b\n  stdout ───\n\n    running 1 " +
				"test\n    test b ... FAILED\n\n    failures:\n\n    failures:\n        b\n\n    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 2 " +
				"filtered out; finished in 0.00s\n    \n  stderr ───\n\n    thread 'b' panicked at src/lib.rs:10:9:\n    sums differ\n\n  Cancelling due to test " +
				"failure: 1 test still running\n     SIGSEGV [   0.1s] shop c\n────────────\n     Summary [   0.2s] 3 tests run: 1 passed, 2 " +
				"failed, 0 skipped\n        FAIL [   0.004s] shop b\n     SIGSEGV [   0.1s] shop c\nerror: test run failed\n",
			keep: []string{"FAIL [   0.004s] shop b", "src/lib.rs:10:9", "sums differ", "SIGSEGV [   0.1s] shop c", "3 tests run: 1 passed, 2 failed",
				"error: test run failed"}, gone: []string{"PASS [", "running 1 test"},
		},
		"go, the last test hangs": {
			run:  strategy.Run{Exit: -1},
			in:   "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n=== RUN   TestHangs\n",
			keep: []string{"=== RUN   TestHangs"}, gone: []string{"TestA"},
		},
		"go, a test prints what looks like a failure": {
			in: "=== RUN   TestA\nerror: sample\nFAIL is only a word\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n=== RUN   TestC\n--- " +
				"PASS: TestC (0.00s)\nPASS\nok  \texample.test/x\t0.1s\n",
			keep: []string{"error: sample", "ok  \texample.test/x"}, gone: []string{"TestB"},
		},
		"go, prints of a test that passed beside one that failed": {
			run: strategy.Run{Exit: 1},
			in: "=== RUN   TestA\nnoise of A\n--- PASS: TestA (0.00s)\n=== RUN   TestB\nwords of B\n    b_test.go:3: wrong\n--- FAIL: TestB (0.00s)\nFAIL\n" +
				"FAIL\texample.test/x\t0.1s\nFAIL\n",
			keep: []string{"words of B", "b_test.go:3: wrong", "--- FAIL: TestB"}, gone: []string{"noise of A"},
		},
		"go, more failures than stay": {
			parameters: "max_failures = 1", run: strategy.Run{Exit: 1},
			in: goFailures(7) + "FAIL\nFAIL\texample.test/x\t0.1s\nFAIL\n",
			keep: []string{"words 20 of Test1", "--- FAIL: Test5", "a_test.go:1: got 5, want -5", "words 2 of Test5", "--- FAIL: Test6",
				"a_test.go:1: got 6, want -6", "... (30 lines omitted) ..."}, gone: []string{"words 20 of Test5", "words 1 of Test6"},
		},
		"go, JSON cut off": {
			run: strategy.Run{Exit: 1},
			in: `{"Time":"2026-01-02T03:04:05Z","Action":"start","Package":"example.test/x"}` + "\n" +
				`{"Time":"2026-01-02T03:04:05Z","Action":"output","Package":"example.test/x","Test":"TestA","Output":"=== RUN   TestA\n"}` + "\n" +
				`{"Time":"2026-01-02T03:04:05Z","Action":"output","Package":"example.test/x","Test":"TestA","Output":"    a_test.go:3: \u003cnil\u003e \"x\"\n"}` +
				"\n" + `{"Time":"2026-01-02T03:04:05Z","Action":"output","Package":"example.test/x","Test":"TestA","Output":"--- FAIL: Te` + "\n",
			keep: []string{"=== RUN   TestA", `a_test.go:3: <nil> "x"`, `"Output":"--- FAIL: Te`}, gone: []string{"start"},
		},
		"pytest, killed": {
			run: strategy.Run{Exit: 137},
			in: "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.0.0, pluggy-1.4.0\n" +
				"rootdir: /home/dev/project\ncollected 40 items\n\ntests/test_a.py ..........F.........                                     [ 50%]\ntests/test_b.py " +
				"....Killed\n",
			keep: []string{"tests/test_a.py ..........F", "Killed"}, gone: []string{"rootdir"},
		},
		"pytest, names without a summary": {
			run: strategy.Run{Exit: 1},
			in: "tests/test_a.py::test_1 PASSED      [ 33%]\ntests/test_a.py::test_2 FAILED      [ 66%]\ntests/test_a.py::test_3 PASSED      [100%]\n\n" +
				"================ 1 failed, 2 passed in 0.10s ================\n",
			keep: []string{"tests/test_a.py::test_2 FAILED", "1 failed, 2 passed"}, gone: []string{"test_1"},
		},
		"pytest, coverage is too low": {
			run: strategy.Run{Exit: 1},
			in: ".................... [100%]\n---------- coverage: platform linux, python 3.12.1-final-0 -----------\nName        Stmts   Miss  Cover\n" +
				"-------------------------------\nshop/a.py      10      0   100%\nshop/b.py      10      5    50%\n-------------------------------\nTOTAL          20 " +
				"     5    75%\nFAIL Required test coverage of 90% not reached. Total coverage: 75.00%\n20 passed in 0.10s\n",
			keep: []string{"shop/b.py", "TOTAL", "FAIL Required test coverage", "20 passed"}, gone: []string{"shop/a.py"},
		},
		"vitest, code frames": {
			run: strategy.Run{Exit: 1},
			in: " RUN  v2.1.0 /home/dev/project\n\n ✓ src/a.test.ts (3 tests) 5ms\n ❯ src/b.test.ts (2 tests | 1 failed) 12ms\n   × sums 6ms\n     → " +
				"expected 3 to be 8\n\n⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  src/b.test.ts > sums\nAssertionError: expected 3 to be 8\n ❯ src/b.test.ts:5:9\n " +
				"     4|   it('sums', () => {\n      5|     expect(total()).toBe(8);\n       |         ^\n      6|   });\n\n⎯⎯⎯⎯⎯[1/1]⎯\n\n Test Files  1 " +
				"failed | 1 passed (2)\n      Tests  1 failed | 4 passed (5)\n   Start at  12:00:00\n   Duration  1.00s\n",
			keep: []string{"src/b.test.ts > sums", "5|     expect(total()).toBe(8);", "src/b.test.ts:5:9", "1 failed | 4 passed"},
			gone: []string{"a.test.ts", "6|", "Start at"},
		},
		"mocha, titles of what failed": {
			run: strategy.Run{Exit: 1},
			in: "  Cart\n    #total()\n      ✔ sums\n      1) adds shipping\n    #empty()\n      ✔ is\n\n  2 passing (5ms)\n  1 failing\n\n  1) Cart\n       " +
				"#total()\n         adds shipping:\n     AssertionError: 3 == 8\n      at Context.<anonymous> (test/cart.js:5:3)\n      at process.processImmediate " +
				"(node:internal/timers:483:21)\n",
			keep: []string{"    #total()", "1) adds shipping", "2 passing", "AssertionError: 3 == 8", "test/cart.js:5:3"}, gone: []string{"#empty()", "✔"},
		},
		"maven, warnings without end": {
			in: "[INFO] Scanning for projects...\n" + strategytest.NumberedAs("[WARNING] overlapping class %d\n", 1,
				40) + "[INFO] -------------------------------------------------------\n[INFO]  T E S T S\n[INFO] " +
				"-------------------------------------------------------\n[INFO] Running a.B\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: " +
				"0.01 s -- in a.B\n[INFO] \n[INFO] Results:\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n[INFO] BUILD SUCCESS\n",
			keep: []string{"overlapping class 15", "... (25 lines omitted) ...", "Tests run: 2", "BUILD SUCCESS"}, gone: []string{"overlapping class 16"},
		},
		"pytest, skipped without end": {
			in: "===== test session starts =====\ncollected 41 items\n\nt.py " + strings.Repeat("s",
				40) + ". [100%]\n\n===== short test summary info =====\n" + strategytest.NumberedAs("SKIPPED [1] t.py:%d: needs a GPU\n", 1,
				40) + "===== 1 passed, 40 skipped in 0.10s =====\n",
			keep: []string{"t.py:10: needs a GPU", "... (30 lines omitted) ...", "1 passed, 40 skipped"}, gone: []string{"t.py:11:"},
		},
		"jest, what a test wrote": {
			in: "PASS ./a.test.js\n  ● Console\n\n    console.log\n      the answer is 42\n\n      at log (a.test.js:3:11)\n      at Object.<anonymous> " +
				"(node_modules/jest-circus/build/utils.js:1:2)\n\nTests:       1 passed, 1 total\n",
			keep: []string{"the answer is 42", "a.test.js:3:11", "1 passed, 1 total"}, gone: []string{"jest-circus"},
		},
		"maven, a class that does not end": {
			run: strategy.Run{Exit: 143}, parameters: `format = "jvm"`,
			in: "[INFO] Scanning for projects...\n[INFO] Running shop.ATest\n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in " +
				"shop.ATest\n[INFO] Running shop.HangTest\n",
			keep: []string{"Running shop.HangTest"}, gone: []string{"ATest"},
		},
		"gradle": {
			run: strategy.Run{Exit: 1},
			in: "> Task :compileJava UP-TO-DATE\n> Task :compileTestJava\n\n> Task :test\n\nCartTest > adds() PASSED\n\nCartTest > sums() FAILED\n    " +
				"org.opentest4j.AssertionFailedError: expected: <8> but was: <3>\n        at app//org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)\n  " +
				"      at app//shop.CartTest.sums(CartTest.java:12)\n\n2 tests completed, 1 failed\n\n> Task :test FAILED\n\nFAILURE: Build failed with an exception.\n" +
				"\n* What went wrong:\nExecution failed for task ':test'.\n> There were failing tests. See the report at: " +
				"file:///home/dev/project/build/reports/tests/test/index.html\n\n* Try:\n> Run with --scan to get full insights.\n\nBUILD FAILED in 3s\n3 actionable " +
				"tasks: 2 executed, 1 up-to-date\n",
			keep: []string{"CartTest > sums() FAILED", "expected: <8> but was: <3>", "CartTest.java:12", "2 tests completed, 1 failed", "> There were failing tests",
				"BUILD FAILED"}, gone: []string{"adds()", "--scan", "UP-TO-DATE"},
		},
		"dotnet, stopped before it shows failures": {
			run: strategy.Run{Exit: 124},
			in: "Starting test execution, please wait...\n[xUnit.net 00:00:00.21]   Starting:    Shop.Tests\n[xUnit.net 00:00:00.42]     " +
				"Shop.Tests.CartTests.Total(rate: 1) [FAIL]\n[xUnit.net 00:00:00.42]       Expected: 7\n[xUnit.net 00:00:00.42]       Actual:   8\n[xUnit.net " +
				"00:00:00.50]     Shop.Tests.CartTests.Drops [FAIL]\n[xUnit.net 00:00:00.50]       Expected: 0\n[xUnit.net 00:00:00.50]       Actual:   2\n  Failed " +
				"Shop.Tests.CartTests.Total(rate: 1) [3 ms]\n  Error Message:\n   Expected: 7\nActual:   8\n",
			keep: []string{"Failed Shop.Tests.CartTests.Total(rate: 1) [3 ms]", "   Expected: 7\n", "CartTests.Drops [FAIL]", "      Expected: 0",
				"      Actual:   2"}, gone: []string{"Total(rate: 1) [FAIL]", "]       Expected: 7", "Starting"},
		},
		"dotnet": {
			run: strategy.Run{Exit: 1},
			in: "  Determining projects to restore...\n  All projects are up-to-date for restore.\n  Shop -> /home/dev/project/bin/Debug/net8.0/Shop.dll\nTest " +
				"run for /home/dev/project/bin/Debug/net8.0/Shop.dll (.NETCoreApp,Version=v8.0)\nStarting test execution, please wait...\nA total of 1 test files " +
				"matched the specified pattern.\n[xUnit.net 00:00:00.21]     Shop.CartTests.Sums [FAIL]\n  Passed Shop.CartTests.Adds [3 ms]\n  Failed " +
				"Shop.CartTests.Sums [5 ms]\n  Error Message:\n   Assert.Equal() Failure: Values differ\nExpected: 8\nActual:   3\n  Stack Trace:\n     at " +
				"Shop.CartTests.Sums() in /home/dev/project/CartTests.cs:line 14\n   at System.RuntimeMethodHandle.InvokeMethod(Object target, Void** arguments)\n\n" +
				"Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 20 ms - Shop.dll (net8.0)\n",
			keep: []string{"Failed Shop.CartTests.Sums", "Expected: 8", "Actual:   3", "CartTests.cs:line 14", "Failed!  - Failed:     1"},
			gone: []string{"Adds", "up-to-date"},
		},
		"googletest": {
			run: strategy.Run{Exit: 1},
			in: "[==========] Running 2 tests from 1 test suite.\n[----------] Global test environment set-up.\n[ RUN      ] Cart.Adds\na print\n[       OK ] " +
				"Cart.Adds (0 ms)\n[ RUN      ] Cart.Sums\ncart_test.cc:12: Failure\nExpected equality of these values:\n  total\n    Which is: 3\n  8\n[  FAILED  ] " +
				"Cart.Sums (0 ms)\n[==========] 2 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] " +
				"Cart.Sums\n\n 1 FAILED TEST\n",
			keep: []string{"cart_test.cc:12: Failure", "Which is: 3", "[  FAILED  ] Cart.Sums", "[  PASSED  ] 1 test."}, gone: []string{"Cart.Adds", "a print"},
		},
		"googletest, skipped": {
			in: "[==========] Running 3 tests from 1 test suite.\n[ RUN      ] Cart.Loads\ncart_test.cc:6: Skipped\nno network\n\n[  SKIPPED ] Cart.Loads (0 ms)\n" +
				"[ RUN      ] Cart.Adds\na print\n[       OK ] Cart.Adds (0 ms)\n[ RUN      ] Cart.Sums\n[  SKIPPED ] Cart.Sums (0 ms)\n[==========] 3 tests from 1 " +
				"test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 2 tests, listed below:\n[  SKIPPED ] Cart.Loads\n[  SKIPPED ] Cart.Sums\n",
			keep: []string{"cart_test.cc:6: Skipped\nno network", "[  SKIPPED ] Cart.Loads (0 ms)", "[  SKIPPED ] 2 tests", "[  SKIPPED ] Cart.Sums\n"},
			gone: []string{"Cart.Adds", "a print", "[ RUN      ] Cart.Sums"},
		},
		"make, after other lines": {
			run: strategy.Run{Exit: 2, Mixed: true},
			in: "gcc -c a.c\nld: warning: odd\n=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: wrong\n--- FAIL: TestB (0.00s)\nFAIL\n" +
				"FAIL\texample.test/x\t0.1s\nFAIL\nmake: *** [Makefile:3: test] Error 1\n",
			keep: []string{"gcc -c a.c", "ld: warning: odd", "b_test.go:3: wrong", "make: *** [Makefile:3: test] Error 1"}, gone: []string{"TestA"},
		},
		"all passed, and it failed": {
			run: strategy.Run{Exit: 2},
			in: "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.test/x\t0.1s\nthreshold of 90 is " +
				"not reached\n",
			keep: []string{"TestA", "threshold of 90"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["test_summary"], defaultTo(tt.parameters, `format = "auto"`))
			got, confidence := strategytest.Filter(t, s, tt.run, string(text.Sanitize([]byte(tt.in))))
			for _, line := range tt.keep {
				if !strings.Contains(got, line) {
					t.Errorf("lost %q (%s):\n%s", line, confidence, got)
				}
			}
			for _, line := range tt.gone {
				if strings.Contains(got, line) {
					t.Errorf("kept %q (%s):\n%s", line, confidence, got)
				}
			}
			if again, _ := strategytest.Filter(t, s, tt.run, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}

// cargoFailures returns failures of the tests t1 to tn with long output.
func cargoFailures(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "---- t%d stdout ----\n", i)
		for p := range 30 {
			fmt.Fprintf(&b, "print %d of t%d\n", p, i)
		}
		fmt.Fprintf(&b, "thread 't%[1]d' panicked at src/t%[1]d.rs:1:2:\nassertion `left == right` failed\n  left: %[1]d\n right: -%[1]d\n\n", i)
	}
	return b.String()
}

// goFailures returns failures of the tests Test1 to Testn.
func goFailures(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "--- FAIL: Test%[1]d (0.00s)\n    a_test.go:1: got %[1]d, want -%[1]d\n", i)
		for p := range 30 {
			fmt.Fprintf(&b, "        words %d of Test%d\n", p, i)
		}
	}
	return b.String()
}

func defaultTo(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func TestTestSummaryParameters(t *testing.T) {
	for parameters, want := range map[string]string{
		`max_failures = 0`: "max_failures", `truncate_stack_trace = 1`: "truncate_stack_trace", `format = "x"`: `unknown format "x" (known: auto, cargo, go`,
		`max = 1`: `unknown key "max"`,
	} {
		if _, err := strategytest.Build(Strategies["test_summary"], parameters); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", parameters, err, want)
		}
	}
}

// A test that writes endless output costs no memory, and the result says how
// much is missing.
func TestTestSummaryBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("=== RUN   TestA\n")
	for i := range 30000 {
		b.WriteString("a line that a test wrote\n")
		if i == 15000 {
			b.WriteString("    a_test.go:7: error: here it is\n")
		}
	}
	b.WriteString("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.test/x\t0.1s\nFAIL\n")
	got, _ := strategytest.Filter(t, strategytest.Make(t, Strategies["test_summary"], `format = "go"`), strategy.Run{Exit: 1}, b.String())
	for _, line := range []string{"a_test.go:7: error: here it is", "--- FAIL: TestA", "lines omitted) ..."} {
		if !strings.Contains(got, line) {
			t.Errorf("the result lost %q", line)
		}
	}
	if len(got) > 4000 {
		t.Errorf("%d bytes are left", len(got))
	}
}

// testOutputs returns outputs of test runners.
func testOutputs(t testing.TB) (all [][]byte) {
	t.Helper()
	for _, root := range strategytest.SampleDirs("../testdata/samples") {
		paths, err := filepath.Glob(filepath.Join(root, "*-test", "*", "output"))
		if err != nil {
			t.Fatal(err)
		}
		more, _ := filepath.Glob(filepath.Join(root, "pytest", "*", "output"))
		for _, path := range append(paths, more...) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
	}
	return all
}

// FuzzTestSummary checks that the result is valid UTF-8, not larger, and
// unchanged when it is filtered again.
func FuzzTestSummary(f *testing.F) {
	for i, text := range testOutputs(f) {
		f.Add(text[:min(len(text), 20<<10)], uint8(i), i%2)
	}
	var all []strategy.Strategy
	for _, name := range append(testFormatNames(), "auto") {
		all = append(all, strategytest.Make(f, Strategies["test_summary"], `max_failures = 2, truncate_stack_trace = 8, format = "`+name+`"`))
	}
	f.Fuzz(func(t *testing.T, raw []byte, which uint8, exit int) {
		text := string(text.Sanitize(raw))
		s := all[int(which)%len(all)]
		run := strategy.Run{Exit: exit, Mixed: which > 127}
		got, _ := strategytest.Filter(t, s, run, text)
		if !utf8.ValidString(got) || strings.ContainsRune(got, '\x1b') || len(got) > len(text) {
			t.Errorf("of %d bytes: %q", len(text), got)
		}
		if again, _ := strategytest.Filter(t, s, run, got); again != got {
			t.Errorf("%q, again %q", got, again)
		}
	})
}

func BenchmarkTestSummary(b *testing.B) {
	for _, name := range []string{"cargo", "go", "pytest", "js", "jvm", "auto"} {
		b.Run(name, func(b *testing.B) {
			var body []byte
			dirs := map[string]string{"cargo": "cargo-test", "go": "go-test", "js": "js-test", "jvm": "jvm-test", "pytest": "pytest", "auto": "*-test"}
			for _, root := range strategytest.SampleDirs("../testdata/samples") {
				paths, _ := filepath.Glob(filepath.Join(root, dirs[name], "*", "output"))
				for _, path := range paths {
					more, err := os.ReadFile(path)
					if err != nil {
						b.Fatal(err)
					}
					body = append(body, text.Sanitize(more)...)
				}
			}
			if len(body) == 0 {
				b.Skip("no samples of it")
			}
			body = bytes.Repeat(body, 1+(4<<20)/len(body))
			lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
			s := strategytest.Make(b, Strategies["test_summary"], `format = "`+name+`"`)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				out := text.NewLines()
				p := s.Begin(strategy.Run{}, out)
				for _, l := range lines {
					p.Line(l)
				}
				p.End()
				out.Close()
			}
			b.ReportMetric(float64(len(lines)), "lines/op")
		})
	}
}

// A report from which stored lines are missing, since the disk was full, is not used.
func TestFullDisk(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	const filler = "    cart_test.go:7: the sum is right\n"
	printed := strings.Repeat(filler, 3<<20/len(filler))
	for format, report := range map[string][2]string{
		"go": {"=== RUN   TestCart\n", "--- FAIL: TestCart (0.00s)\nFAIL\nFAIL\tshop\t0.1s\n"},
		"native": {"[==========] Running 1 test from 1 test suite.\n[ RUN      ] Cart.Sum\n",
			"[  FAILED  ] Cart.Sum (0 ms)\n[==========] 1 test from 1 test suite ran.\n"},
	} {
		s := strategytest.Make(t, Strategies["test_summary"], `format = "`+format+`"`)
		out := text.NewLines()
		pass := s.Begin(strategy.Run{Exit: 1}, out)
		text.EachLine([]byte(report[0]+printed+report[1]), pass.Line)
		if got := pass.End(); got != strategy.Fallback {
			t.Errorf("%s: the confidence is %s, want %s, in\n%.500s", format, got, strategy.Fallback, strategytest.Text(t, out))
		}
		out.Close()
	}
}

// manyFailures returns n failures in a format with a number.
func manyFailures(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
