package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// unittestTests recognises python -m unittest and Django's tests.
type unittestTests struct {
	*testPass
	unshownFailures heldLines // lines that name a failed test, until its lines
	inFailures      bool      // within the lines of failed tests
	afterRule       bool      // after "=====", which begins a failure
	notedTests      int       // tests that were skipped or unexpectedly passed
}

func newUnittest(p *testPass) testRunner { return &unittestTests{testPass: p} }

func claimsUnittest(l []byte) bool {
	switch l[0] {
	case 'R':
		return isUnittestTotal(l)
	case '=':
		return len(l) == 70 && bytes.Trim(l, "=") == nil
	case 't':
		return begins(l, "test") && contains(l, " (") && (ends(l, " ... ok") || ends(l, " ... FAIL") || ends(l, " ... ERROR"))
	}
	return false
}

// isUnittestTotal matches "Ran 12 tests in 0.001s".
func isUnittestTotal(l []byte) bool {
	if !begins(l, "Ran ") {
		return false
	}
	_, n := leadingNumber(l[4:])
	return n > 0 && (begins(l[4+n:], " tests in ") || begins(l[4+n:], " test in "))
}

func (u *unittestTests) handle(l []byte) bool {
	rule := u.afterRule
	u.afterRule = false
	switch {
	case l[0] == '=' && len(l) == 70 && bytes.Trim(l, "=") == nil:
		u.endFailure()
		u.afterRule, u.inFailures = true, true
		return true
	case text.HasAnyPrefix(l, "FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: ") && (rule || contains(l, " (") && l[len(l)-1] == ')'):
		u.unshownFailures.drop()
		u.inFailures = true
		_, name, _ := bytes.Cut(l, []byte(": "))
		u.beginFailure(name, l)
		return true
	case l[0] == '-' && len(l) == 70 && bytes.Trim(l, "-") == nil:
		return true
	case isUnittestTotal(l):
		u.endFailure()
		u.inFailures = false
		u.keep(l)
		return true
	case !u.inFailures && (begins(l, "OK") && (len(l) == 2 || begins(l, "OK (")) || begins(l, "FAILED (") || begins(l, "NO TESTS RAN")):
		u.unshownFailures.write(u.keepFailure)
		if l[0] != 'O' {
			u.problemSeen = true
		}
		u.keep(l)
		return true
	case u.inFailures && u.failureOpen:
		u.addFailureLine(l, l[0] > ' ' && text.Important(l) && !begins(l, "Traceback"))
		return true
	}
	return u.handleProgress(l)
}

func (u *unittestTests) handleProgress(l []byte) bool {
	at := bytes.LastIndex(l, []byte(" ... "))
	if at > 0 {
		switch result := l[at+5:]; {
		case string(result) == "ok", string(result) == "expected failure":
			return true
		case begins(result, "skipped "), string(result) == "unexpected success":
			if u.notedTests++; u.notedTests <= maxNotedTests {
				u.keep(l)
			}
			return true
		case string(result) == "FAIL", string(result) == "ERROR":
			u.problemSeen = true
			u.unshownFailures.add(l, u.keepFailure)
			return true
		}
	}
	if failed, ok := parsePytestSigns(l); ok && bytes.IndexByte(l, ' ') < 0 {
		if failed {
			u.problemSeen = true
			u.unshownFailures.add(l, u.keepFailure)
		}
		return true
	}
	return text.HasAnyPrefix(
		l, "Creating test database for alias", "Destroying test database for alias",
		"System check identified no issues",
	) || begins(l, "Found ") && contains(l, " test(s)")
}

func (u *unittestTests) handleOther(l []byte) {
	if begins(l, "test") && ends(l, ")") { // the doc string follows, with the result
		return
	}
	u.addOutside(l)
}

func (u *unittestTests) end() {
	u.endFailure()
	u.unshownFailures.write(u.keepFailure)
}
