package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// parseNextestStatus returns the status in " PASS [ 0.010s] crate test".
func parseNextestStatus(l []byte) string {
	inner := bytes.TrimLeft(l, " ")
	if len(inner) == len(l) {
		return ""
	}
	at := bytes.Index(inner, []byte(" ["))
	if at < 2 || at > 24 {
		return ""
	}
	if rest := bytes.TrimLeft(inner[at+2:], " >"); len(rest) == 0 ||
		rest[0] < '0' ||
		rest[0] > '9' ||
		!contains(rest, "s] ") && !ends(rest, "s]") && !contains(rest, "s]─") {
		return ""
	}
	switch status := inner[:at]; {
	case string(status) == "PASS":
		return "PASS"
	case string(status) == "SLOW",
		string(status) == "START",
		string(status) == "RETRY",
		string(status) == "DELAY",
		string(status) == "SETUP PASS":
		return "SLOW"
	case string(status) == "Summary":
		return "Summary"
	case status[0] >= 'A' && status[0] <= 'Z' && bytes.Equal(bytes.ToUpper(status), status):
		return "FAIL"
	}
	return ""
}

// endsNextestOutput reports whether a line ends the output of a test of nextest.
func (c *cargoTests) endsNextestOutput(l []byte) bool {
	switch {
	case l[0] == ' ' && parseNextestStatus(l) != "", begins(l, "────"), begins(l, "error: test run failed"), begins(l, "warning: "):
		return true
	}
	inner := bytes.TrimLeft(l, " ")
	return len(inner) < len(l) && text.HasAnyPrefix(inner, "Cancelling due to", "Canceling due to", "Killing ")
}

// handleNextestOutput handles the output of a failed test of nextest. It drops
// libtest's lines about the single test.
func (c *cargoTests) handleNextestOutput(l []byte) {
	switch inner := bytes.TrimLeft(l, " "); {
	case isRunningTests(inner), string(inner) == "failures:", begins(inner, "test result: "),
		begins(inner, "test ") && (ends(inner, " ... FAILED") || ends(inner, " ... ok")),
		len(inner) < len(l) && bytes.HasSuffix(c.running, inner) && bytes.IndexByte(inner, ' ') < 0:
	default:
		c.addFailureLine(l, contains(l, "panicked at") || begins(inner, "Error: "))
	}
}

// handleNextestResult handles a line of nextest that names a test which did not
// simply pass. After the total nextest names each of them again.
func (c *cargoTests) handleNextestResult(l []byte) {
	at := bytes.Index(l, []byte("] "))
	name := bytes.TrimLeft(l[at+1:], " ")
	if begins(name, "(") {
		if end := bytes.Index(name, []byte(") ")); end > 0 {
			name = bytes.TrimLeft(name[end+1:], " ")
		}
	}
	if inner := bytes.TrimLeft(l, " "); text.HasAnyPrefix(inner, "LEAK [", "FLAKY ", "XPASS ", "SKIP ", "LEAK-PASS") {
		if begins(inner, "SKIP ") {
			return
		}
		if !c.shownTests["="+testKey(name)] {
			c.keep(l)
		}
		c.markShown(name)
		return
	}
	if c.shownTests["="+testKey(name)] {
		return
	}
	c.markShown(name)
	c.running = append(c.running[:0], name...)
	c.beginFailure(name, l)
	c.part = cargoNextest
}

func (c *cargoTests) markShown(name []byte) {
	if len(c.shownTests) < 20*maxNamedFailures {
		c.shownTests["="+testKey(name)] = true
	}
}
