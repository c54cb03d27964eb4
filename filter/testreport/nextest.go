package testreport

import "bytes"

// nextestStatus returns the status in " PASS [ 0.010s] crate test".
func nextestStatus(l []byte) string {
	inner := bytes.TrimLeft(l, " ")
	if len(inner) == len(l) {
		return ""
	}
	at := bytes.Index(inner, []byte(" ["))
	if at < 2 || at > 24 {
		return ""
	}
	if rest := bytes.TrimLeft(inner[at+2:], " >"); len(rest) == 0 || rest[0] < '0' || rest[0] > '9' || !contains(rest, "s] ") && !ends(rest, "s]") && !contains(rest, "s]─") {
		return ""
	}
	switch status := inner[:at]; {
	case string(status) == "PASS":
		return "PASS"
	case string(status) == "SLOW", string(status) == "START", string(status) == "RETRY", string(status) == "DELAY", string(status) == "SETUP PASS":
		return "SLOW"
	case string(status) == "Summary":
		return "Summary"
	case status[0] >= 'A' && status[0] <= 'Z' && bytes.Equal(bytes.ToUpper(status), status):
		return "FAIL"
	}
	return ""
}

// nextestEnds reports whether a line ends the output of a test of nextest.
func (c *cargoTests) nextestEnds(l []byte) bool {
	switch {
	case l[0] == ' ' && nextestStatus(l) != "", begins(l, "────"), begins(l, "error: test run failed"), begins(l, "warning: "):
		return true
	}
	inner := bytes.TrimLeft(l, " ")
	return len(inner) < len(l) && beginsAny(inner, "Cancelling due to", "Canceling due to", "Killing ")
}

// nextestWrote handles the output of a failed test of nextest. It drops
// libtest's lines about the single test.
func (c *cargoTests) nextestWrote(l []byte) {
	switch inner := bytes.TrimLeft(l, " "); {
	case runningTests(inner), string(inner) == "failures:", begins(inner, "test result: "), begins(inner, "test ") && (ends(inner, " ... FAILED") || ends(inner, " ... ok")),
		len(inner) < len(l) && bytes.HasSuffix(c.running, inner) && bytes.IndexByte(inner, ' ') < 0:
	default:
		c.failureLine(l, contains(l, "panicked at") || begins(inner, "Error: "))
	}
}

// nextestFailed handles a line of nextest that names a test which did not
// simply pass. After the total nextest names each of them again.
func (c *cargoTests) nextestFailed(l []byte) {
	at := bytes.Index(l, []byte("] "))
	name := bytes.TrimLeft(l[at+1:], " ")
	if begins(name, "(") {
		if end := bytes.Index(name, []byte(") ")); end > 0 {
			name = bytes.TrimLeft(name[end+1:], " ")
		}
	}
	if inner := bytes.TrimLeft(l, " "); beginsAny(inner, "LEAK [", "FLAKY ", "XPASS ", "SKIP ", "LEAK-PASS") {
		if begins(inner, "SKIP ") {
			return
		}
		if !c.named["="+testKey(name)] {
			c.keep(l)
		}
		c.mark(name)
		return
	}
	if c.named["="+testKey(name)] {
		return
	}
	c.mark(name)
	c.running = append(c.running[:0], name...)
	c.fail(name, l)
	c.in = cargoNextest
}

func (c *cargoTests) mark(name []byte) {
	if len(c.named) < 20*toldFailures {
		c.named["="+testKey(name)] = true
	}
}
