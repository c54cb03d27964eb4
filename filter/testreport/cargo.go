package testreport

import (
	"bytes"
)

// cargoTests recognises cargo test and cargo nextest.
type cargoTests struct {
	*testPass
	part            cargoPart
	binaryLine      []byte          // "Running unittests ..." of the binary, until written
	countLine       []byte          // "running 3 tests", until the binary ends
	failedDots      []byte          // the last line of dots with a failure, until its block
	running         []byte          // the test of nextest whose output follows
	unshownFailures heldLines       // lines that name a failed test, until its block
	shownTests      map[string]bool // tests whose output was shown, by testKey; nextest's have the prefix "="
	headingPending  bool            // "failures:" came, and no name was written
	awaitsResult    bool            // a test has begun without a result
	warnings        int
	errors          int
	ignored         int
	briefDiagnostic bool // keep only the message and place of a diagnostic
	totals          cargoTotals
}

// cargoPart is a part of the output.
type cargoPart uint8

const (
	cargoTop        cargoPart = iota
	cargoBlocks               // "failures:", then the output of each test
	cargoNames                // the second "failures:", with names
	cargoSuccesses            // the output of passed tests
	cargoDiagnostic           // an error or a warning of the compiler
	cargoNextest              // the output of a test of nextest
)

func newCargoTests(p *testPass) testRunner {
	return &cargoTests{testPass: p, shownTests: map[string]bool{}}
}

func (c *cargoTests) handle(l []byte) bool {
	switch c.part {
	case cargoNextest:
		if !c.endsNextestOutput(l) {
			c.handleNextestOutput(l)
			return true
		}
		c.leavePart()
	case cargoBlocks:
		return c.handleBlockLine(l)
	}
	if c.handleKeyword(l) || begins(l, "all doctests ran in ") {
		return true
	}
	if c.awaitsResult && (string(l) == "ok" || string(l) == "ignored") {
		c.awaitsResult = false
		return true
	}
	if name, ok := bytes.CutSuffix(l, []byte(" --- FAILED")); ok && len(c.countLine) > 0 {
		c.problemSeen = true
		c.unshownFailures.add(append(append([]byte("test "), name...), " ... FAILED"...), c.keepFailedName)
		return true
	}
	if c.part != cargoDiagnostic && isTestDots(l) || len(c.countLine) > 0 && len(l) == 1 && (l[0] == '.' || l[0] == 'i' || l[0] == 'F') {
		c.handleDots(l)
		return true
	}
	return c.handlePartLine(l)
}

// handleKeyword handles a line that begins with a word of the runner's own format.
func (c *cargoTests) handleKeyword(l []byte) bool {
	switch l[0] {
	case 't':
		return begins(l, "test ") && c.handleTest(l)
	case 'r':
		if isRunningTests(l) {
			c.leavePart()
			c.countLine = append(c.countLine[:0], l...)
			return true
		}
	case 'f':
		if string(l) == "failures:" {
			c.handleFailures()
			return true
		}
	case 's':
		if string(l) == "successes:" {
			if c.part != cargoSuccesses {
				c.leavePart()
				c.addPrinted(l)
				c.part = cargoSuccesses
			}
			return true
		}
	case '-':
		return c.beginBlock(l)
	case ' ':
		return c.handleIndented(l)
	case 'e', 'w':
		return c.beginDiagnostic(l)
	case 'S', 'F':
		if begins(l, "Some errors have detailed explanations: ") || begins(l, "For more information about ") {
			c.leavePart()
			return true
		}
	case 0xe2:
		if begins(l, "────") {
			c.leavePart()
			return true
		}
	}
	return false
}

// leavePart ends the current part.
func (c *cargoTests) leavePart() {
	if c.part == cargoBlocks || c.part == cargoNextest {
		c.endFailure()
	}
	c.part = cargoTop
}

func (c *cargoTests) blank() bool {
	if c.part == cargoDiagnostic {
		c.leavePart()
	}
	return false
}

// handleTest handles "test name ... ok" and "test result: ...".
func (c *cargoTests) handleTest(l []byte) bool {
	if begins(l, "test result: ") {
		c.handleTotal(l)
		return true
	}
	at := bytes.LastIndex(l, []byte(" ..."))
	switch {
	case contains(l, " has been running for over "):
		c.leavePart()
		c.keep(l)
		return true
	case at < 0:
		return false
	}
	c.leavePart()
	switch result := bytes.TrimSpace(l[at+len(" ..."):]); {
	case string(result) == "ok", begins(result, "ok ("), begins(result, "ok <"), string(result) == "ignored":
	case begins(result, "ignored, "): // with a reason
		if c.ignored++; c.ignored <= maxNotedTests {
			c.keep(l)
		}
	case begins(result, "FAILED"):
		c.problemSeen = true
		c.unshownFailures.add(l, c.keepFailedName)
	case begins(result, "bench:"):
		c.keep(l)
	default:
		c.awaitsResult = true
		if len(result) == 0 && len(c.countLine) > 0 {
			c.writeBinaryLine()
			c.keep(c.countLine)
			c.countLine = c.countLine[:0]
		}
		c.addPrinted(l)
	}
	return true
}

// keepFailedName keeps a line that names a failed test.
func (c *cargoTests) keepFailedName(l []byte) {
	c.writeBinaryLine()
	c.keepFailure(l)
}

// writeBinaryLine keeps the line that names the current binary.
func (c *cargoTests) writeBinaryLine() {
	if len(c.binaryLine) > 0 {
		c.keep(c.binaryLine)
		c.binaryLine = c.binaryLine[:0]
	}
}

// handleDots handles the quiet form: "....F.. 7/9".
func (c *cargoTests) handleDots(l []byte) {
	c.leavePart()
	if bytes.IndexByte(l, 'F') >= 0 {
		c.problemSeen = true
		c.failedDots = append(c.failedDots[:0], l...)
	}
}

// handleTotal handles the total of one binary.
func (c *cargoTests) handleTotal(l []byte) {
	c.leavePart()
	c.unshownFailures.write(c.keepFailedName)
	if begins(l, "test result: ok. ") {
		if !c.hasPending {
			c.totals = cargoTotals{}
		}
		if c.totals.add(l); c.totals.binaries == 1 {
			c.keepReplaceable(l)
		} else {
			c.keepReplaceable(c.totals.line())
		}
	} else {
		c.writeBinaryLine()
		c.keepFailure(l)
	}
	c.beginBinary(nil)
}

// beginBinary begins the tests of another binary.
func (c *cargoTests) beginBinary(header []byte) {
	c.binaryLine = append(c.binaryLine[:0], header...)
	c.countLine = c.countLine[:0]
	c.awaitsResult, c.headingPending = false, false
	clear(c.shownTests)
}

// endBinary keeps the lines of a binary whose tests did not end.
func (c *cargoTests) endBinary() {
	c.unshownFailures.write(c.keepFailedName)
	if len(c.failedDots) > 0 {
		c.keepFailedName(c.failedDots)
		c.failedDots = c.failedDots[:0]
	}
	c.problemSeen = c.problemSeen || c.awaitsResult
	if len(c.countLine) > 0 {
		c.writeBinaryLine()
		c.keep(c.countLine)
	}
}

// handleIndented handles the indented lines of cargo and nextest.
func (c *cargoTests) handleIndented(l []byte) bool {
	if status := parseNextestStatus(l); status != "" {
		c.leavePart()
		switch status {
		case "Summary":
			c.keep(l)
			c.part = cargoTop
		case "FAIL":
			c.handleNextestResult(l)
		}
		return true
	}
	if isCargoStatus(l) {
		inner := bytes.TrimLeft(l, " ")
		switch {
		case begins(inner, "Running ") || begins(inner, "Doc-tests "):
			c.leavePart()
			c.endBinary()
			c.beginBinary(l)
		case begins(inner, "Blocking "):
			c.keep(l)
		default:
			if c.part != cargoDiagnostic {
				c.leavePart()
			}
		}
		return true
	}
	if c.part == cargoTop {
		inner := bytes.TrimLeft(l, " ")
		switch {
		case begins(inner, "Nextest run ID "),
			begins(inner, "Starting ") && contains(inner, " tests across "),
			begins(inner, "Starting ") && contains(inner, " test across "):
			return true
		case begins(inner, "Cancelling due to"), begins(inner, "Canceling due to"), begins(inner, "Killing"):
			c.keepFailure(l)
			return true
		}
	}
	return false
}

// beginDiagnostic handles the first line of an error or a warning.
func (c *cargoTests) beginDiagnostic(l []byte) bool {
	switch {
	case begins(l, "warning: "), begins(l, "warning["):
		c.warnings++
		c.briefDiagnostic = c.warnings > 3 && !contains(l, " generated ") && !contains(l, "build failed")
	case begins(l, "error: "), begins(l, "error["):
		c.problemSeen = true
		c.errors++
		c.briefDiagnostic = c.errors > 2*c.maxFailures
		if begins(l, "error: test failed") ||
			begins(l, "error: doctest failed") ||
			begins(l, "error: could not") ||
			begins(l, "error: test run failed") {
			c.unshownFailures.write(c.keepFailedName)
			if len(c.countLine) > 0 && (begins(l, "error: test failed") || begins(l, "error: doctest failed")) {
				c.endBinary()
			}
			c.beginBinary(nil)
		}
	default:
		return false
	}
	c.leavePart()
	c.part = cargoDiagnostic
	c.keep(shortenLinkerCommand(l))
	return true
}

func (c *cargoTests) handleOther(l []byte) {
	if (begins(l, "thread '") || begins(l, "Caused by:")) && c.run.Exit != 0 {
		c.problemSeen = true
	}
	if len(c.countLine) > 0 {
		c.addPrinted(l) // between the results of tests
		return
	}
	c.addOutside(l)
}

func (c *cargoTests) end() {
	c.leavePart()
	c.endBinary()
}
