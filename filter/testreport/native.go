package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// nativeTests recognises googletest, ctest, meson, automake, phpunit and rspec.
type nativeTests struct {
	*testPass
	output    *text.Lines // the output of the running test
	runLine   []byte      // "[ RUN      ] A.b"
	startLine []byte      // the line of ctest about a test without a result
	skipped   int         // skipped tests with a reason
	part      nativePart

	dropsCommand bool // meson's next line about the command of a test is dropped
}

// nativePart is a part of the output.
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
		return text.HasAnyPrefix(l, "[==========]", "[----------]", "[ RUN      ]", "[  FAILED  ]", "[  PASSED  ]")
	case ' ':
		_, ok := parseCTestResult(l)
		return ok || parseMesonResult(l) != ""
	case 'P':
		return begins(l, "PHPUnit ") || begins(l, "PASS: ")
	case 'T':
		return begins(l, "Test project /")
	case 'F':
		return string(l) == "FAILURES!" ||
			begins(l, "Failures:") && len(l) == 9 ||
			begins(l, "FAIL: ") && contains(l, "test") && !contains(l, "(")
	case 'O':
		return begins(l, "OK (") && contains(l, " assertion")
	}
	if _, ok := parseCTestResult(l); ok || parseMesonResult(l) != "" {
		return true
	}
	return isRSpecTotal(l)
}

// isRSpecTotal matches "12 examples, 1 failure".
func isRSpecTotal(l []byte) bool {
	_, n := leadingNumber(l)
	return n > 0 && text.HasAnyPrefix(l[n:], " examples, ", " example, ")
}

// parseCTestResult parses " 1/12 Test #1: foo .... Passed 0.01 sec".
func parseCTestResult(l []byte) (passed, ok bool) {
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

// mesonResults are the results of meson's tests.
var mesonResults = []string{"OK", "FAIL", "SKIP", "EXPECTEDFAIL", "UNEXPECTEDPASS", "TIMEOUT", "INTERRUPT", "ERROR", "IGNORED", "RUNNING"}

// parseMesonResult returns the result in " 1/42 shop:cart / adds  OK   0.10s", or "".
func parseMesonResult(l []byte) (result string) {
	inner := bytes.TrimLeft(l, " ")
	_, n := leadingNumber(inner)
	if n == 0 || n >= len(inner) || inner[n] != '/' {
		return ""
	}
	_, of := leadingNumber(inner[n+1:])
	if of == 0 || !begins(inner[n+1+of:], " ") {
		return ""
	}
	for _, r := range mesonResults {
		at := bytes.LastIndex(inner, []byte(" "+r+" "))
		if at < 0 {
			continue
		}
		if time := bytes.TrimLeft(inner[at+len(r)+1:], " "); len(time) == 0 && r == "RUNNING" || len(time) > 0 && text.DigitSet[time[0]] {
			return r
		}
	}
	return ""
}

// handleMeson handles a line of meson.
func (n *nativeTests) handleMeson(l []byte) bool {
	switch result := parseMesonResult(l); result {
	case "":
	case "OK", "SKIP", "EXPECTEDFAIL", "IGNORED", "RUNNING":
		n.leavePart()
		n.dropsCommand = true
		return true
	default:
		n.leavePart()
		n.dropsCommand = false
		n.problemSeen = true
		n.beginFailure(l, l)
		n.part = nativeBlocks
		return true
	}
	switch {
	case begins(l, ">>> ") && n.dropsCommand:
		return true
	case begins(l, "Summary of Failures:"):
		n.leavePart()
		n.keep(l)
		return true
	case text.HasAnyPrefix(l, "Ok: ", "Fail: ", "Expected Fail: ", "Unexpected Pass: ", "Skipped: ", "Timeout: ", "Full log written to "):
		n.leavePart()
		if !ends(bytes.TrimRight(l, " "), " 0") {
			n.keep(l)
		}
		return true
	}
	return false
}

// isCTestVerbose matches the lines that "ctest -V" writes before each test and
// for all.
func isCTestVerbose(l []byte) bool {
	_, signs := leadingNumber(l)
	if signs > 0 && begins(l[signs:], ": ") {
		return text.HasAnyPrefix(l[signs+2:], "Test command: ", "Working Directory: ", "Test timeout computed to be: ")
	}
	if begins(l, "test ") {
		_, signs = leadingNumber(l[len("test "):])
		return signs > 0 && len("test ")+signs == len(l)
	}
	return text.HasAnyPrefix(
		l, "UpdateCTestConfiguration ", "Constructing a list of tests", "Done constructing a list of tests",
		"Updating test list for fixtures", "Added 0 tests to meet ", "Checking test dependency graph",
	)
}

func (n *nativeTests) handle(l []byte) bool {
	switch l[0] {
	case '[':
		if len(l) > 11 && l[11] == ']' {
			return n.handleGoogletest(l)
		}
	case 'P', 'F', 'X', 'S', 'E':
		if text.HasAnyPrefix(l, "PASS: ", "SKIP: ", "XFAIL: ") {
			return true
		}
		if text.HasAnyPrefix(l, "FAIL: ", "XPASS: ", "ERROR: ") {
			n.keepFailure(l)
			return true
		}
	}
	if n.part == nativeRuns {
		n.storeLine(l)
		return true
	}
	if passed, ok := parseCTestResult(l); ok {
		n.startLine = n.startLine[:0]
		n.part = nativeTop
		if !passed {
			n.keepFailure(l)
		}
		return true
	}
	if n.handleMeson(l) {
		return true
	}
	inner := bytes.TrimLeft(l, " ")
	if len(inner) < len(l) && begins(inner, "Start ") && contains(inner, ": ") {
		n.startLine = append(n.startLine[:0], l...)
		return true
	}
	return n.handleNumbered(l, inner)
}

// handleGoogletest handles a line of googletest.
func (n *nativeTests) handleGoogletest(l []byte) bool {
	switch {
	case begins(l, "[ RUN      ]"):
		n.keepUnfinished()
		n.runLine = append(n.runLine[:0], l...)
		n.part = nativeRuns
	case begins(l, "[       OK ]"):
		n.dropTest()
	case begins(l, "[  SKIPPED ]") && n.part == nativeRuns:
		n.keepSkipped(l)
	case begins(l, "[  FAILED  ]"):
		if n.part == nativeRuns {
			n.writeFailure(l[len("[  FAILED  ]"):])
			n.dropTest()
		}
		n.keepFailure(l)
	case begins(l, "[==========]"):
		if contains(l, " ran.") {
			n.keepUnfinished()
			n.keep(l)
		}
	case begins(l, "[----------]"), begins(l, "[ DISABLED ]"):
	case begins(l, "[  PASSED  ]"), begins(l, "[  SKIPPED ]"):
		n.keepUnfinished()
		n.keep(l)
	default:
		return false
	}
	return true
}

// writeFailure writes the failure of the running test, with its output.
func (n *nativeTests) writeFailure(name []byte) {
	n.beginFailure(name, n.runLine)
	if n.output != nil {
		n.each(n.output, func(line []byte) {
			if len(line) > 0 {
				n.addFailureLine(line, isReason)
			}
		})
	}
	n.endFailure()
}

func (n *nativeTests) storeLine(l []byte) {
	if n.output == nil {
		n.output = text.NewLines()
	}
	n.output.Write(l)
}

// dropTest drops the output of the test.
func (n *nativeTests) dropTest() {
	if n.output != nil {
		n.output.Close()
		n.output = nil
	}
	n.part = nativeTop
	n.runLine = n.runLine[:0]
}

// keepSkipped keeps a skipped test that says why, after its reason.
func (n *nativeTests) keepSkipped(l []byte) {
	if n.output != nil {
		if n.skipped++; n.skipped <= maxSkipped {
			n.keep(n.runLine)
			n.beginDetail(maxBriefLines)
			n.each(n.output, n.detail.line)
			n.keep(l)
		}
	}
	n.dropTest()
}

// keepUnfinished keeps a test without a result.
func (n *nativeTests) keepUnfinished() {
	if n.part == nativeRuns {
		n.keepFailure(n.runLine)
		if n.output != nil {
			n.beginDetail(n.maxTraceLines)
			n.each(n.output, n.detail.line)
			n.endFailure()
		}
	}
	n.dropTest()
}

// handleNumbered handles a line of phpunit and rspec.
func (n *nativeTests) handleNumbered(l, inner []byte) bool {
	_, signs := leadingNumber(inner)
	switch {
	case signs > 0 && begins(inner[signs:], ") ") && (n.part == nativeBlocks):
		n.beginFailure(inner[signs+2:], l)
		return true
	case begins(l, "There was 1 ") ||
		begins(l, "There were ") ||
		string(l) == "Failures:" ||
		string(l) == "Pending: (Failures listed here are expected and do not affect your suite's status)":
		n.endFailure()
		n.part = nativeBlocks
		if l[0] != 'P' {
			n.problemSeen = true
		}
		if l[0] == 'T' { // the number of failures
			n.keep(l)
		}
		return true
	case begins(l, "Failed examples:"), string(l) == "FAILURES!", string(l) == "ERRORS!", begins(l, "The following tests FAILED:"):
		n.leavePart()
		n.keepFailure(l)
		return true
	case begins(l, "Tests: ") && contains(l, "Assertions: "), begins(l, "OK ("), isRSpecTotal(l), contains(l, "% tests passed, "):
		n.leavePart()
		if contains(l, "ailure") && !contains(l, " 0 failures") || contains(l, "Errors: ") {
			n.problemSeen = true
		}
		n.keep(l)
		return true
	case begins(l, "rspec ./"):
		n.leavePart()
		n.keepFailure(l)
		return true
	case text.HasAnyPrefix(l, "Finished in ", "Time: ", "Total Test time", "# TOTAL: ", "# PASS: ", "# FAIL: ", "# SKIP: ", "# ERROR: "):
		n.leavePart()
		n.keep(l)
		return true
	case text.HasAnyPrefix(
		l, "PHPUnit ", "Runtime: ", "Configuration: ", "Randomized with seed ", "Test project ", "# XFAIL: ",
		"# XPASS: ", "Run options: ",
	):
		return true
	case isCTestVerbose(l):
		return true
	case n.part == nativeBlocks && n.failureOpen:
		n.addFailureLine(l, begins(inner, "Failure/Error: ") || text.Important(l))
		return true
	}
	if failed, ok := parseNativeSigns(l); ok {
		if failed {
			n.problemSeen = true
		}
		return true
	}
	return false
}

// parseNativeSigns matches "....F..S 63 / 120 ( 52%)".
func parseNativeSigns(l []byte) (failed, ok bool) {
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

func (n *nativeTests) leavePart() {
	n.endFailure()
	n.part = nativeTop
}

func (n *nativeTests) blank() bool { return n.part == nativeRuns }

func (n *nativeTests) handleOther(l []byte) { n.addOutside(l) }

func (n *nativeTests) end() {
	n.keepUnfinished()
	n.leavePart()
	if len(n.startLine) > 0 {
		n.keepFailure(n.startLine)
	}
}
