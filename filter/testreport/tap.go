package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// tapTests recognises the Test Anything Protocol, as node --test, prove, tape,
// bats and others write it.
type tapTests struct {
	*testPass
	part    tapPart
	indent  int // of the last result
	skipped int // lines about skipped tests and those expected to fail
}

// tapPart is the part of the output after a result.
type tapPart uint8

const (
	tapTop    tapPart = iota
	tapPassed         // the YAML of a passed test
	tapFailed         // after a failed test
	tapTodo           // after a test that is expected to fail
)

func newTAP(p *testPass) testRunner { return &tapTests{testPass: p} }

func claimsTAP(l []byte) bool {
	if begins(l, "TAP version ") {
		return true
	}
	ok, _, _, numbered := parseTAPResult(bytes.TrimLeft(l, " "))
	return ok && numbered
}

// parseTAPResult parses "not ok 2 - name".
func parseTAPResult(l []byte) (ok, failed bool, name []byte, numbered bool) {
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

func (t *tapTests) handle(l []byte) bool {
	inner := bytes.TrimLeft(l, " ")
	indent := len(l) - len(inner)
	if ok, failed, name, _ := parseTAPResult(inner); ok && (t.part < tapFailed || indent <= t.indent+1) {
		t.endFailure()
		t.indent = indent
		switch {
		case failed && (contains(name, "# TODO") || contains(name, "# todo")):
			t.part = tapTodo
			t.keepSkipped(l)
		case failed && ends(l, " {"): // its subtests follow, up to "}"
			t.part = tapTop
			t.keepFailure(l)
		case failed:
			t.part = tapFailed
			t.beginFailure(name, l)
		default:
			t.part = tapPassed
			if contains(name, "# SKIP ") || contains(name, "# skip ") {
				t.keepSkipped(l)
			}
		}
		return true
	}
	switch {
	case t.part == tapPassed && indent > t.indent && (string(inner) == "---" || string(inner) == "..." || isTAPYAML(inner)):
		return true
	case t.part == tapTodo && indent > t.indent:
		return true
	case begins(inner, "# Subtest: "), begins(l, "TAP version "), string(inner) == "}" && indent <= t.indent:
		t.leavePart()
		return true
	case t.part == tapFailed && indent > t.indent:
		switch {
		case text.HasAnyPrefix(inner, "duration_ms: ", "type: 'test'", "type: 'suite'"), string(inner) == "---", string(inner) == "...":
		case contains(inner, "node:internal/") || contains(inner, "(node:"):
		default:
			t.addFailureLine(l, text.HasAnyPrefix(inner, "error: ", "message: "))
		}
		return true
	case begins(inner, "1..") && len(inner) < 12, begins(inner, "1..0 # "):
		t.leavePart()
		if begins(inner, "1..0") {
			t.keep(l)
		}
		return true
	case begins(l, "# "):
		return t.handleComment(l)
	case begins(l, "Bail out!"):
		t.leavePart()
		t.keepFailure(l)
		return true
	}
	t.leavePart()
	return false
}

// keepSkipped keeps the first lines about tests whose failure does not count.
func (t *tapTests) keepSkipped(l []byte) {
	if t.skipped < 10 {
		t.skipped++
		t.keep(l)
	}
}

// isTAPYAML matches a line of the YAML of a passed test.
func isTAPYAML(l []byte) bool {
	return text.HasAnyPrefix(l, "duration_ms: ", "type: '", "at: ", "started_at: ")
}

func (t *tapTests) leavePart() {
	t.endFailure()
	t.part = tapTop
}

// handleComment handles "# pass 4" and explanations of a failed test.
func (t *tapTests) handleComment(l []byte) bool {
	rest := l[2:]
	switch {
	case text.HasAnyPrefix(rest, "tests ", "pass ", "fail ", "ok", "failed "):
		t.leavePart()
		t.keep(l)
	case text.HasAnyPrefix(rest, "suites ", "cancelled 0", "skipped 0", "todo 0", "duration_ms "):
		t.leavePart()
	case text.HasAnyPrefix(rest, "cancelled ", "skipped ", "todo "):
		t.leavePart()
		t.keep(l)
	case t.part == tapFailed:
		t.addFailureLine(l, isReason)
	default:
		return false
	}
	return true
}

func (t *tapTests) handleOther(l []byte) {
	if t.part != tapTop || begins(l, "# ") {
		t.addPrinted(l)
		return
	}
	t.addOutside(l)
}

func (t *tapTests) end() { t.leavePart() }
