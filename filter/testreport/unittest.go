package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// unittestTests recognises python -m unittest and Django's tests.
type unittestTests struct {
	*testPass
	failing heldLines
	in      bool // within the lines of failed tests
	rule    bool // after "=====", which begins a failure
	noted   int  // lines about skipped tests
}

func newUnittest(p *testPass) testRunner { return &unittestTests{testPass: p} }

func claimsUnittest(l []byte) bool {
	switch l[0] {
	case 'R':
		return ranTests(l)
	case '=':
		return len(l) == 70 && bytes.Trim(l, "=") == nil
	case 't':
		return begins(l, "test") && contains(l, " (") && (ends(l, " ... ok") || ends(l, " ... FAIL") || ends(l, " ... ERROR"))
	}
	return false
}

// ranTests matches "Ran 12 tests in 0.001s".
func ranTests(l []byte) bool {
	if !begins(l, "Ran ") {
		return false
	}
	_, n := leadingNumber(l[4:])
	return n > 0 && (begins(l[4+n:], " tests in ") || begins(l[4+n:], " test in "))
}

func (u *unittestTests) shape(l []byte) bool {
	rule := u.rule
	u.rule = false
	switch {
	case l[0] == '=' && len(l) == 70 && bytes.Trim(l, "=") == nil:
		u.close()
		u.rule, u.in = true, true
		return true
	case beginsAny(l, "FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: ") && (rule || contains(l, " (") && l[len(l)-1] == ')'):
		u.failing.drop()
		u.in = true
		_, name, _ := bytes.Cut(l, []byte(": "))
		u.fail(name, l)
		return true
	case l[0] == '-' && len(l) == 70 && bytes.Trim(l, "-") == nil:
		return true
	case ranTests(l):
		u.close()
		u.in = false
		u.keep(l)
		return true
	case !u.in && (begins(l, "OK") && (len(l) == 2 || begins(l, "OK (")) || begins(l, "FAILED (") || begins(l, "NO TESTS RAN")):
		u.failing.write(u.failed)
		if l[0] != 'O' {
			u.bad = true
		}
		u.keep(l)
		return true
	case u.in && u.open:
		u.failureLine(l, l[0] > ' ' && text.Important(l) && !begins(l, "Traceback"))
		return true
	}
	return u.progress(l)
}

func (u *unittestTests) progress(l []byte) bool {
	at := bytes.LastIndex(l, []byte(" ... "))
	if at > 0 {
		switch result := l[at+5:]; {
		case string(result) == "ok", string(result) == "expected failure":
			return true
		case begins(result, "skipped "), string(result) == "unexpected success":
			if u.noted++; u.noted <= notedTests {
				u.keep(l)
			}
			return true
		case string(result) == "FAIL", string(result) == "ERROR":
			u.bad = true
			u.failing.add(l, u.failed)
			return true
		}
	}
	if failed, ok := pytestSigns(l); ok && bytes.IndexByte(l, ' ') < 0 {
		if failed {
			u.bad = true
			u.failing.add(l, u.failed)
		}
		return true
	}
	return beginsAny(l, "Creating test database for alias", "Destroying test database for alias", "System check identified no issues") || begins(l, "Found ") && contains(l, " test(s)")
}

func (u *unittestTests) other(l []byte) {
	if begins(l, "test") && ends(l, ")") { // the doc string follows, with the result
		return
	}
	u.loose(l)
}

func (u *unittestTests) end() {
	u.close()
	u.failing.write(u.failed)
}
