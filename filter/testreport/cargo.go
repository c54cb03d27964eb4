package testreport

import "bytes"

// cargoTests recognises cargo test and cargo nextest.
type cargoTests struct {
	*testPass
	in       cargoPart
	header   []byte    // "Running unittests ..." of the binary, until written
	count    []byte    // "running 3 tests", until the binary ends
	dotted   []byte    // the last line of dots with a failure, until its block
	running  []byte    // the running test of nextest
	failing  heldLines // lines that name a failed test, until its block
	named    map[string]bool
	heading  bool // "failures:" came, and no name was written
	hanging  bool // a test has begun without a result
	nextest  bool
	warnings int
	errors   int
	ignored  int
	brief    bool // keep only the message and place of a diagnostic
	sums     cargoSums
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
	return &cargoTests{testPass: p, named: map[string]bool{}}
}

func (c *cargoTests) shape(l []byte) bool {
	switch c.in {
	case cargoNextest:
		if !c.nextestEnds(l) {
			c.nextestWrote(l)
			return true
		}
		c.leave()
	case cargoBlocks:
		return c.inBlocks(l)
	}
	if c.keyword(l) || begins(l, "all doctests ran in ") {
		return true
	}
	if c.hanging && (string(l) == "ok" || string(l) == "ignored") {
		c.hanging = false
		return true
	}
	if name, ok := bytes.CutSuffix(l, []byte(" --- FAILED")); ok && len(c.count) > 0 {
		c.bad = true
		c.failing.add(append(append([]byte("test "), name...), " ... FAILED"...), c.failedLine)
		return true
	}
	if c.in != cargoDiagnostic && isTestDots(l) || len(c.count) > 0 && len(l) == 1 && (l[0] == '.' || l[0] == 'i' || l[0] == 'F') {
		c.dots(l)
		return true
	}
	return c.inside(l)
}

// keyword handles a line that begins with a word of the runner's own format.
func (c *cargoTests) keyword(l []byte) bool {
	switch l[0] {
	case 't':
		return begins(l, "test ") && c.test(l)
	case 'r':
		if runningTests(l) {
			c.leave()
			c.count = append(c.count[:0], l...)
			return true
		}
	case 'f':
		if string(l) == "failures:" {
			c.failures()
			return true
		}
	case 's':
		if string(l) == "successes:" {
			if c.in != cargoSuccesses {
				c.leave()
				c.prints(l)
				c.in = cargoSuccesses
			}
			return true
		}
	case '-':
		return c.block(l)
	case ' ':
		return c.indented(l)
	case 'e', 'w':
		return c.diagnostic(l)
	case 'S', 'F':
		if begins(l, "Some errors have detailed explanations: ") || begins(l, "For more information about ") {
			c.leave()
			return true
		}
	case 0xe2:
		if begins(l, "────") {
			c.leave()
			c.nextest = true
			return true
		}
	}
	return false
}

// inBlocks handles a line of the output of failed tests.
func (c *cargoTests) inBlocks(l []byte) bool {
	switch {
	case string(l) == "failures:":
		c.failures()
	case begins(l, "test result: "):
		c.result(l)
	case begins(l, "---- ") && c.block(l):
	case beginsAny(l, "error: test failed", "error: doctest failed") || begins(l, "error: ") && ends(l, " failed:") && contains(l, " target"):
		c.leave()
		return c.diagnostic(l)
	case begins(l, "     Running ") && ends(l, ")"):
		return c.indented(l)
	case begins(l, "note: run with `RUST_BACKTRACE=") || begins(l, "note: Some details are omitted, run with"):
	default:
		c.failureLine(l, begins(l, "thread '") || begins(l, "Error: ") || begins(l, "error") || contains(l, "panicked at"))
	}
	return true
}

// inside handles a line of the current part.
func (c *cargoTests) inside(l []byte) bool {
	switch c.in {
	case cargoNames:
		if begins(l, "    ") {
			c.name(bytes.TrimSpace(l), l)
			return true
		}
	case cargoSuccesses:
		if !begins(l, "    ") || bytes.IndexByte(bytes.TrimSpace(l), ' ') >= 0 {
			c.prints(l)
		}
		return true
	case cargoDiagnostic:
		switch {
		case !c.brief:
			c.keep(shortenLinkerCommand(l))
		case begins(bytes.TrimLeft(l, " "), "--> "):
			c.keep(l)
		}
		return true
	}
	return false
}

// leave ends the current part.
func (c *cargoTests) leave() {
	if c.in == cargoBlocks || c.in == cargoNextest {
		c.close()
	}
	c.in = cargoTop
}

func (c *cargoTests) blank() bool {
	if c.in == cargoDiagnostic {
		c.leave()
	}
	return false
}

// test handles "test name ... ok" and "test result: ...".
func (c *cargoTests) test(l []byte) bool {
	if begins(l, "test result: ") {
		c.result(l)
		return true
	}
	at := bytes.LastIndex(l, []byte(" ..."))
	switch {
	case contains(l, " has been running for over "):
		c.leave()
		c.keep(l)
		return true
	case at < 0:
		return false
	}
	c.leave()
	switch result := bytes.TrimSpace(l[at+len(" ..."):]); {
	case string(result) == "ok", begins(result, "ok ("), begins(result, "ok <"), string(result) == "ignored":
	case begins(result, "ignored, "): // with a reason
		if c.ignored++; c.ignored <= notedTests {
			c.keep(l)
		}
	case begins(result, "FAILED"):
		c.bad = true
		c.failing.add(l, c.failedLine)
	case begins(result, "bench:"):
		c.keep(l)
	default:
		c.hanging = true
		if len(result) == 0 && len(c.count) > 0 {
			c.binary()
			c.keep(c.count)
			c.count = c.count[:0]
		}
		c.prints(l)
	}
	return true
}

// failedLine keeps a line that names a failed test.
func (c *cargoTests) failedLine(l []byte) {
	c.binary()
	c.failed(l)
}

// binary keeps the line that names the current binary.
func (c *cargoTests) binary() {
	if len(c.header) > 0 {
		c.keep(c.header)
		c.header = c.header[:0]
	}
}

// failures begins the blocks of failed tests, or the list of their names.
func (c *cargoTests) failures() {
	c.leave()
	c.in, c.heading, c.bad = cargoNames, true, true
	c.dotted = c.dotted[:0]
}

// block handles "---- name stdout ----".
func (c *cargoTests) block(l []byte) bool {
	if !begins(l, "---- ") || !ends(l, " stdout ----") && !ends(l, " stderr ----") || len(l) <= len("----  stdout ----") {
		return false
	}
	if c.in == cargoSuccesses {
		c.prints(l)
		return true
	}
	name := l[len("---- ") : len(l)-len(" stdout ----")]
	c.leave()
	c.in = cargoBlocks
	c.failing.forget(append(append([]byte("test "), name...), ' '))
	if len(c.named) < 20*toldFailures {
		c.named[testKey(name)] = true
	}
	if c.fails < c.max {
		c.binary()
	}
	c.fail(name, l)
	return true
}

// name handles a name in the list of failed tests. It stays if the test has no
// other line.
func (c *cargoTests) name(name, l []byte) {
	if c.named[testKey(name)] {
		return
	}
	c.failing.forget(append(append([]byte("test "), name...), ' '))
	c.binary()
	if c.heading {
		c.failed([]byte("failures:"))
		c.heading = false
	}
	c.failed(l)
}

// dots handles the quiet form: "....F.. 7/9".
func (c *cargoTests) dots(l []byte) {
	c.leave()
	if bytes.IndexByte(l, 'F') >= 0 {
		c.bad = true
		c.dotted = append(c.dotted[:0], l...)
	}
}

// result handles the total of one binary.
func (c *cargoTests) result(l []byte) {
	c.leave()
	c.failing.write(c.failedLine)
	if begins(l, "test result: ok. ") {
		if !c.waits {
			c.sums = cargoSums{}
		}
		if c.sums.add(l); c.sums.n == 1 {
			c.wait(l)
		} else {
			c.wait(c.sums.line())
		}
	} else {
		c.binary()
		c.failed(l)
	}
	c.begin(nil)
}

// begin begins the tests of another binary.
func (c *cargoTests) begin(header []byte) {
	c.header = append(c.header[:0], header...)
	c.count = c.count[:0]
	c.hanging, c.heading = false, false
	clear(c.named)
}

// unfinished keeps the lines of a binary whose tests did not end.
func (c *cargoTests) unfinished() {
	c.failing.write(c.failedLine)
	if len(c.dotted) > 0 {
		c.failedLine(c.dotted)
		c.dotted = c.dotted[:0]
	}
	c.bad = c.bad || c.hanging
	if len(c.count) > 0 {
		c.binary()
		c.keep(c.count)
	}
}

// indented handles the indented lines of cargo and nextest.
func (c *cargoTests) indented(l []byte) bool {
	if status := nextestStatus(l); status != "" {
		c.nextest = true
		c.leave()
		switch status {
		case "Summary":
			c.keep(l)
			c.in = cargoTop
		case "FAIL":
			c.nextestFailed(l)
		}
		return true
	}
	if cargoStatus(l) {
		inner := bytes.TrimLeft(l, " ")
		switch {
		case begins(inner, "Running ") || begins(inner, "Doc-tests "):
			c.leave()
			c.unfinished()
			c.begin(l)
		case begins(inner, "Blocking "):
			c.keep(l)
		default:
			if c.in != cargoDiagnostic {
				c.leave()
			}
		}
		return true
	}
	if c.in == cargoTop {
		inner := bytes.TrimLeft(l, " ")
		switch {
		case begins(inner, "Nextest run ID "), begins(inner, "Starting ") && contains(inner, " tests across "), begins(inner, "Starting ") && contains(inner, " test across "):
			c.nextest = true
			return true
		case begins(inner, "Cancelling due to"), begins(inner, "Canceling due to"), begins(inner, "Killing"):
			c.nextest = true
			c.failed(l)
			return true
		}
	}
	return false
}

// diagnostic handles the first line of an error or a warning.
func (c *cargoTests) diagnostic(l []byte) bool {
	switch {
	case begins(l, "warning: "), begins(l, "warning["):
		c.warnings++
		c.brief = c.warnings > 3 && !contains(l, " generated ") && !contains(l, "build failed")
	case begins(l, "error: "), begins(l, "error["):
		c.bad = true
		c.errors++
		c.brief = c.errors > 2*c.max
		if begins(l, "error: test failed") || begins(l, "error: doctest failed") || begins(l, "error: could not") || begins(l, "error: test run failed") {
			c.failing.write(c.failedLine)
			if len(c.count) > 0 && (begins(l, "error: test failed") || begins(l, "error: doctest failed")) {
				c.unfinished()
			}
			c.begin(nil)
		}
	default:
		return false
	}
	c.leave()
	c.in = cargoDiagnostic
	c.keep(shortenLinkerCommand(l))
	return true
}

func (c *cargoTests) other(l []byte) {
	if (begins(l, "thread '") || begins(l, "Caused by:")) && c.run.Exit != 0 {
		c.bad = true
	}
	if len(c.count) > 0 {
		c.prints(l) // between the results of tests
		return
	}
	c.loose(l)
}

func (c *cargoTests) end() {
	c.leave()
	c.unfinished()
}
