package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// nativeTests recognises googletest, ctest, automake, phpunit and rspec.
type nativeTests struct {
	*testPass
	text    *text.Lines // the output of the running test
	runLine []byte      // "[ RUN      ] A.b"
	starts  []byte      // start lines of ctest
	in      nativePart
}

type nativePart uint8

const (
	nativeTop    nativePart = iota
	nativeRuns              // between "[ RUN" and its result
	nativeBlocks            // numbered failures of phpunit and rspec
)

func newNativeTests(p *testPass) testRunner { return &nativeTests{testPass: p} }

func claimsNative(l []byte) bool {
	switch l[0] {
	case '[':
		return beginsAny(l, "[==========]", "[----------]", "[ RUN      ]", "[  FAILED  ]", "[  PASSED  ]")
	case ' ':
		_, ok := ctestResult(l)
		return ok
	case 'P':
		return begins(l, "PHPUnit ") || begins(l, "PASS: ")
	case 'T':
		return begins(l, "Test project /")
	case 'F':
		return string(l) == "FAILURES!" || begins(l, "Failures:") && len(l) == 9 || begins(l, "FAIL: ") && contains(l, "test") && !contains(l, "(")
	case 'O':
		return begins(l, "OK (") && contains(l, " assertion")
	}
	if _, ok := ctestResult(l); ok {
		return true
	}
	return rspecSum(l)
}

// rspecSum matches "12 examples, 1 failure".
func rspecSum(l []byte) bool {
	_, n := leadingNumber(l)
	return n > 0 && beginsAny(l[n:], " examples, ", " example, ")
}

// ctestResult parses " 1/12 Test #1: foo .... Passed 0.01 sec".
func ctestResult(l []byte) (passed, ok bool) {
	inner := bytes.TrimLeft(l, " ")
	_, n := leadingNumber(inner)
	if n == 0 || n >= len(inner) || inner[n] != '/' {
		return false, false
	}
	at := bytes.Index(inner, []byte(" Test "))
	if at < 0 || at > 16 || !contains(inner, "#") {
		return false, false
	}
	return contains(inner, "   Passed  ") || contains(inner, ". Passed "), true
}

// ctestVerbose matches the lines that "ctest -V" writes before each test and
// for all.
func ctestVerbose(l []byte) bool {
	_, signs := leadingNumber(l)
	if signs > 0 && begins(l[signs:], ": ") {
		return beginsAny(l[signs+2:], "Test command: ", "Working Directory: ", "Test timeout computed to be: ")
	}
	if begins(l, "test ") {
		_, signs = leadingNumber(l[len("test "):])
		return signs > 0 && len("test ")+signs == len(l)
	}
	return beginsAny(l, "UpdateCTestConfiguration ", "Constructing a list of tests", "Done constructing a list of tests", "Updating test list for fixtures", "Added 0 tests to meet ", "Checking test dependency graph")
}

func (n *nativeTests) shape(l []byte) bool {
	switch l[0] {
	case '[':
		if len(l) > 11 && l[11] == ']' {
			return n.google(l)
		}
	case 'P', 'F', 'X', 'S', 'E':
		if beginsAny(l, "PASS: ", "SKIP: ", "XFAIL: ") {
			return true
		}
		if beginsAny(l, "FAIL: ", "XPASS: ", "ERROR: ") {
			n.failed(l)
			return true
		}
	}
	if n.in == nativeRuns {
		n.store(l)
		return true
	}
	if passed, ok := ctestResult(l); ok {
		n.starts = n.starts[:0]
		n.in = nativeTop
		if !passed {
			n.failed(l)
		}
		return true
	}
	inner := bytes.TrimLeft(l, " ")
	if len(inner) < len(l) && begins(inner, "Start ") && contains(inner, ": ") {
		n.starts = append(n.starts[:0], l...)
		return true
	}
	return n.numbered(l, inner)
}

// google handles a line of googletest.
func (n *nativeTests) google(l []byte) bool {
	switch {
	case begins(l, "[ RUN      ]"):
		n.unfinished()
		n.runLine = append(n.runLine[:0], l...)
		n.in = nativeRuns
	case begins(l, "[       OK ]"), begins(l, "[  SKIPPED ]") && n.in == nativeRuns:
		n.drop()
	case begins(l, "[  FAILED  ]"):
		if n.in == nativeRuns {
			n.fail(l[len("[  FAILED  ]"):], n.runLine)
			if n.text != nil {
				_ = n.text.Each(func(line []byte) {
					if len(line) > 0 {
						n.failureLine(line, true)
					}
				})
			}
			n.close()
			n.drop()
		}
		n.failed(l)
	case begins(l, "[==========]"):
		if contains(l, " ran.") {
			n.unfinished()
			n.keep(l)
		}
	case begins(l, "[----------]"), begins(l, "[ DISABLED ]"):
	case begins(l, "[  PASSED  ]"), begins(l, "[  SKIPPED ]"):
		n.unfinished()
		n.keep(l)
	default:
		return false
	}
	return true
}

func (n *nativeTests) store(l []byte) {
	if n.text == nil {
		n.text = text.NewLines()
	}
	n.text.Write(l)
}

// drop drops the output of the test.
func (n *nativeTests) drop() {
	if n.text != nil {
		n.text.Close()
		n.text = nil
	}
	n.in = nativeTop
	n.runLine = n.runLine[:0]
}

// unfinished keeps a test without a result.
func (n *nativeTests) unfinished() {
	if n.in == nativeRuns {
		n.failed(n.runLine)
		if n.text != nil {
			n.limit(n.trace)
			_ = n.text.Each(n.detail.line)
			n.close()
		}
	}
	n.drop()
}

// numbered handles a line of phpunit and rspec.
func (n *nativeTests) numbered(l, inner []byte) bool {
	_, signs := leadingNumber(inner)
	switch {
	case signs > 0 && begins(inner[signs:], ") ") && (n.in == nativeBlocks):
		n.fail(inner[signs+2:], l)
		return true
	case begins(l, "There was 1 ") || begins(l, "There were ") || string(l) == "Failures:" || string(l) == "Pending: (Failures listed here are expected and do not affect your suite's status)":
		n.close()
		n.in = nativeBlocks
		if l[0] != 'P' {
			n.bad = true
		}
		if l[0] == 'T' { // the number of failures
			n.keep(l)
		}
		return true
	case begins(l, "Failed examples:"), string(l) == "FAILURES!", string(l) == "ERRORS!", begins(l, "The following tests FAILED:"):
		n.leave()
		n.failed(l)
		return true
	case begins(l, "Tests: ") && contains(l, "Assertions: "), begins(l, "OK ("), rspecSum(l), contains(l, "% tests passed, "):
		n.leave()
		if contains(l, "ailure") && !contains(l, " 0 failures") || contains(l, "Errors: ") {
			n.bad = true
		}
		n.keep(l)
		return true
	case begins(l, "rspec ./"):
		n.leave()
		n.failed(l)
		return true
	case beginsAny(l, "Finished in ", "Time: ", "Total Test time", "# TOTAL: ", "# PASS: ", "# FAIL: ", "# SKIP: ", "# ERROR: "):
		n.leave()
		n.keep(l)
		return true
	case beginsAny(l, "PHPUnit ", "Runtime: ", "Configuration: ", "Randomized with seed ", "Test project ", "# XFAIL: ", "# XPASS: ", "Run options: "):
		return true
	case ctestVerbose(l):
		return true
	case n.in == nativeBlocks && n.open:
		n.failureLine(l, begins(inner, "Failure/Error: ") || text.Important(l))
		return true
	}
	if failed, ok := nativeSigns(l); ok {
		if failed {
			n.bad = true
		}
		return true
	}
	return false
}

// nativeSigns matches "....F..S 63 / 120 ( 52%)".
func nativeSigns(l []byte) (failed, ok bool) {
	signs, rest, _ := bytes.Cut(l, []byte(" "))
	dots := 0
	for _, c := range signs {
		switch c {
		case '.':
			dots++
		case 'F', 'E', 'W':
			failed = true
		case 'S', 'I', 'R', '*', 'D', 'N':
		default:
			return false, false
		}
	}
	rest = bytes.TrimSpace(rest)
	return failed, dots > 0 && (len(rest) == 0 || ends(rest, "%)"))
}

func (n *nativeTests) leave() {
	n.close()
	n.in = nativeTop
}

func (n *nativeTests) blank() bool { return n.in == nativeRuns }

func (n *nativeTests) other(l []byte) { n.loose(l) }

func (n *nativeTests) end() {
	n.unfinished()
	n.leave()
	if len(n.starts) > 0 {
		n.failed(n.starts)
	}
}
