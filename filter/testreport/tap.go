package testreport

import "bytes"

// tapTests recognises the Test Anything Protocol, as node --test, prove, tape,
// bats and others write it.
type tapTests struct {
	*testPass
	in      tapPart
	indent  int
	skipped int
}

type tapPart uint8

const (
	tapTop    tapPart = iota
	tapPassed         // the YAML of a passed test
	tapFailed         // after a failed test
)

func newTAP(p *testPass) testRunner { return &tapTests{testPass: p} }

func claimsTAP(l []byte) bool {
	if begins(l, "TAP version ") {
		return true
	}
	ok, _, _, numbered := tapResult(bytes.TrimLeft(l, " "))
	return ok && numbered
}

// tapResult parses "not ok 2 - name".
func tapResult(l []byte) (ok, failed bool, name []byte, numbered bool) {
	rest, not := bytes.CutPrefix(l, []byte("not "))
	if !begins(rest, "ok") || len(rest) > 2 && rest[2] != ' ' {
		return false, false, nil, false
	}
	rest = bytes.TrimLeft(rest[2:], " ")
	_, n := leadingNumber(rest)
	if n > 0 && n < len(rest) && rest[n] != ' ' {
		return false, false, nil, false
	}
	return not || n > 0, not, bytes.TrimLeft(rest[n:], " -"), n > 0
}

func (t *tapTests) shape(l []byte) bool {
	inner := bytes.TrimLeft(l, " ")
	indent := len(l) - len(inner)
	if ok, failed, name, _ := tapResult(inner); ok && !(t.in == tapFailed && indent > t.indent+1) {
		t.close()
		t.indent = indent
		switch {
		case failed && (contains(name, "# TODO") || contains(name, "# todo")):
			t.in = tapPassed
		case failed:
			t.in = tapFailed
			t.fail(name, l)
		default:
			t.in = tapPassed
			if (contains(name, "# SKIP ") || contains(name, "# skip ")) && t.skipped < 10 {
				t.skipped++
				t.keep(l)
			}
		}
		return true
	}
	switch {
	case t.in == tapPassed && indent > t.indent && (string(inner) == "---" || string(inner) == "..." || tapYAML(inner)):
		return true
	case begins(inner, "# Subtest: "), begins(l, "TAP version "):
		t.leave()
		return true
	case t.in == tapFailed && indent > t.indent:
		switch {
		case beginsAny(inner, "duration_ms: ", "type: 'test'", "type: 'suite'"), string(inner) == "---", string(inner) == "...":
		case contains(inner, "node:internal/") || contains(inner, "(node:"):
		default:
			t.failureLine(l, beginsAny(inner, "error: ", "message: "))
		}
		return true
	case begins(inner, "1..") && len(inner) < 12, begins(inner, "1..0 # "):
		t.leave()
		if begins(inner, "1..0") {
			t.keep(l)
		}
		return true
	case begins(l, "# "):
		return t.comment(l)
	case begins(l, "Bail out!"):
		t.leave()
		t.failed(l)
		return true
	}
	t.leave()
	return false
}

// tapYAML matches a line of the YAML of a passed test.
func tapYAML(l []byte) bool { return beginsAny(l, "duration_ms: ", "type: '", "at: ", "started_at: ") }

func (t *tapTests) leave() {
	t.close()
	t.in = tapTop
}

// comment handles "# pass 4" and explanations of a failed test.
func (t *tapTests) comment(l []byte) bool {
	rest := l[2:]
	switch {
	case beginsAny(rest, "tests ", "pass ", "fail ", "ok", "failed "):
		t.leave()
		t.keep(l)
	case beginsAny(rest, "suites ", "cancelled 0", "skipped 0", "todo 0", "duration_ms "):
		t.leave()
	case beginsAny(rest, "cancelled ", "skipped ", "todo "):
		t.leave()
		t.keep(l)
	case t.in == tapFailed:
		t.failureLine(l, true)
	default:
		return false
	}
	return true
}

func (t *tapTests) other(l []byte) {
	if t.in != tapTop || begins(l, "# ") {
		t.prints(l)
		return
	}
	t.loose(l)
}

func (t *tapTests) end() { t.leave() }
