package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// handleBlockLine handles a line of the output of failed tests.
func (c *cargoTests) handleBlockLine(l []byte) bool {
	switch {
	case string(l) == "failures:":
		c.handleFailures()
	case begins(l, "test result: "):
		c.handleTotal(l)
	case begins(l, "---- ") && c.beginBlock(l):
	case text.HasAnyPrefix(l, "error: test failed", "error: doctest failed") ||
		begins(l, "error: ") && ends(l, " failed:") && contains(l, " target"):
		c.leavePart()
		return c.beginDiagnostic(l)
	case begins(l, "     Running ") && ends(l, ")"):
		return c.handleIndented(l)
	case begins(l, "note: run with `RUST_BACKTRACE=") || begins(l, "note: Some details are omitted, run with"):
	default:
		c.addFailureLine(l, begins(l, "thread '") || begins(l, "Error: ") || begins(l, "error") || contains(l, "panicked at"))
	}
	return true
}

// handlePartLine handles a line of the current part.
func (c *cargoTests) handlePartLine(l []byte) bool {
	switch c.part {
	case cargoNames:
		if begins(l, "    ") {
			c.handleName(bytes.TrimSpace(l), l)
			return true
		}
	case cargoSuccesses:
		if !begins(l, "    ") || bytes.IndexByte(bytes.TrimSpace(l), ' ') >= 0 {
			c.addPrinted(l)
		}
		return true
	case cargoDiagnostic:
		switch {
		case !c.briefDiagnostic:
			c.keep(shortenLinkerCommand(l))
		case begins(bytes.TrimLeft(l, " "), "--> "):
			c.keep(l)
		}
		return true
	}
	return false
}

// handleFailures begins the blocks of failed tests, or the list of their names.
func (c *cargoTests) handleFailures() {
	c.leavePart()
	c.part, c.headingPending, c.problemSeen = cargoNames, true, true
	c.failedDots = c.failedDots[:0]
}

// beginBlock handles "---- name stdout ----".
func (c *cargoTests) beginBlock(l []byte) bool {
	if !begins(l, "---- ") || !ends(l, " stdout ----") && !ends(l, " stderr ----") || len(l) <= len("----  stdout ----") {
		return false
	}
	if c.part == cargoSuccesses {
		c.addPrinted(l)
		return true
	}
	name := l[len("---- ") : len(l)-len(" stdout ----")]
	c.leavePart()
	c.part = cargoBlocks
	c.unshownFailures.dropContaining(append(append([]byte("test "), name...), ' '))
	if len(c.shownTests) < 20*maxNamedFailures {
		c.shownTests[testKey(name)] = true
	}
	if c.failureCount < c.maxFailures {
		c.writeBinaryLine()
	}
	c.beginFailure(name, l)
	return true
}

// handleName handles a name in the list of failed tests. It stays if the test has no
// other line.
func (c *cargoTests) handleName(name, l []byte) {
	if c.shownTests[testKey(name)] {
		return
	}
	c.unshownFailures.dropContaining(append(append([]byte("test "), name...), ' '))
	c.writeBinaryLine()
	if c.headingPending {
		c.keepFailure([]byte("failures:"))
		c.headingPending = false
	}
	c.keepFailure(l)
}
