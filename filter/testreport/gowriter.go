package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// goWriter writes the lines of a package whose results are known.
type goWriter struct {
	*goTests
	pkg   goState
	test  *goTest // the test that is writing; nil means unknown
	mark  []byte  // the line that named it, until written
	crash bool    // within a panic or a race
	skip  bool    // after "--- SKIP" of a passed test
	lines int
}

func (w *goWriter) line(l []byte) {
	if len(l) == 0 {
		w.gap()
		return
	}
	if kind, name, _ := goResult(l); kind != 0 {
		w.to(w.goTests.pkg.tests[testKey(name)])
		switch kind {
		case 'F':
			if w.named++; w.named > toldFailures {
				w.lossy = true
				return
			}
			w.testPass.failed(l)
		case 'P':
			w.mark = append(w.mark[:0], l...)
		case 'S':
			w.skip = true
			w.keep(l)
		default:
			w.keep(l)
		}
		return
	}
	if begins(l, "=== ") && len(l) > 10 && (begins(l[4:], "RUN ") || begins(l[4:], "CONT") || begins(l[4:], "NAME")) {
		w.to(w.goTests.pkg.tests[testKey(bytes.TrimLeft(l[8:], " "))])
		w.mark = append(w.mark[:0], l...)
		if w.test != nil && w.test.state == goRuns && w.pkg != goPassed {
			w.unfinished()
		}
		return
	}
	switch {
	case string(l) == "FAIL", beginsAny(l, "exit status ", "coverage: ", "testing: warning: "):
		w.to(nil)
		w.keep(l)
		return
	case beginsAny(l, "panic: ", "fatal error: ", "WARNING: DATA RACE", "SIGQUIT: ", "SIGSEGV", "unexpected fault address", "runtime: "):
		if w.test != nil && w.test.state == goPassed && w.pkg == goPassed {
			break
		}
		if !w.crash {
			w.flushMark()
			w.crash = true
			w.close()
			w.flush()
			w.bad = true
			w.limit(4 * w.trace)
		}
	}
	w.wrote(l)
}

// wrote handles a line of a test.
func (w *goWriter) wrote(l []byte) {
	switch t := w.test; {
	case w.crash:
		w.failureLine(l, false)
	case t == nil && w.pkg == goPassed:
		w.prints(l)
	case t == nil:
		w.loose(l)
	case t.state == goPassed || t.state == goRuns && w.pkg == goPassed:
		if w.skip || w.pkg == goPassed {
			w.passed(l)
		}
	default:
		w.owned(l)
	}
}

// passed handles a line of a passed test.
func (w *goWriter) passed(l []byte) {
	if len(w.mark) > 0 {
		w.prints(w.mark)
		w.mark = w.mark[:0]
	}
	w.prints(l)
}

// owned handles a line of a test that failed or did not end.
func (w *goWriter) owned(l []byte) {
	t := w.test
	if t.left == 0 {
		w.goTests.failed++
		t.left = w.room(w.goTests.failed)
		if w.goTests.failed > briefFailures*w.max {
			t.left = 1
		}
	}
	w.flushMark()
	switch {
	case w.open:
		w.lines++
		w.failureLine(l, false)
	case t.left > 1:
		w.flush()
		w.limit(t.left)
		w.lines = 1
		w.failureLine(l, false)
	case t.left == 1:
		w.keep(l)
		t.left = -1
	default:
		w.lines++
	}
}

func (w *goWriter) flushMark() {
	if len(w.mark) > 0 {
		w.keep(w.mark)
		w.mark = w.mark[:0]
	}
}

// unfinished keeps the line of a test that did not end.
func (w *goWriter) unfinished() { w.flushMark(); w.bad = true }

// to switches to the lines of another test.
func (w *goWriter) to(t *goTest) {
	switch old := w.test; {
	case w.open && w.crash:
		w.close()
	case w.open:
		w.close()
		old.left = max(5, old.left-w.lines)
	case old != nil && old.left == -1 && w.lines > 0:
		w.keep(text.Omission(w.lines))
	}
	w.test, w.mark, w.crash, w.skip, w.lines = t, w.mark[:0], false, false, 0
}
