package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// goWriter writes the lines of a package whose results are known.
type goWriter struct {
	*goTests
	state     goState // of the package
	test      *goTest // the test that is writing; nil means unknown
	testLine  []byte  // the line that named it, until written
	inCrash   bool    // within a panic or a race
	testLines int     // lines of the current test
	placeLine []byte  // the last place in the current test that is left out; empty means none
}

func (w *goWriter) line(l []byte) {
	if len(l) == 0 {
		w.keepBlank()
		return
	}
	if kind, name := parseGoResult(l); kind != 0 {
		w.switchTest(w.goTests.pkg.tests[testKey(name)])
		switch kind {
		case 'F':
			if w.namedFailures++; w.namedFailures > maxNamedFailures {
				w.lossy = true
				return
			}
			w.keepFailure(l)
		case 'P':
			w.testLine = append(w.testLine[:0], l...)
		default:
			w.keep(l)
		}
		return
	}
	if begins(l, "=== ") && len(l) > 10 && (begins(l[4:], "RUN ") || begins(l[4:], "CONT") || begins(l[4:], "NAME")) {
		w.switchTest(w.goTests.pkg.tests[testKey(bytes.TrimLeft(l[8:], " "))])
		w.testLine = append(w.testLine[:0], l...)
		if w.test != nil && w.test.state == goRunning && w.state != goPassed {
			w.markUnfinished()
		}
		return
	}
	switch {
	case string(l) == "FAIL", text.HasAnyPrefix(l, "exit status ", "coverage: ", "testing: warning: "):
		w.switchTest(nil)
		w.keep(l)
		return
	case text.HasAnyPrefix(
		l, "panic: ", "fatal error: ", "WARNING: DATA RACE", "SIGQUIT: ", "SIGSEGV",
		"unexpected fault address", "runtime: ",
	):
		if w.test != nil && w.test.state == goPassed && w.state == goPassed {
			break
		}
		if !w.inCrash {
			w.writeTestLine()
			w.inCrash = true
			w.endFailure()
			w.flush()
			w.problemSeen = true
			w.beginDetail(4 * w.maxTraceLines)
		}
	}
	w.handleTestLine(l)
}

// handleTestLine handles a line of a test.
func (w *goWriter) handleTestLine(l []byte) {
	switch t := w.test; {
	case w.inCrash:
		w.addFailureLine(l, notReason)
	case t == nil && w.state == goPassed:
		w.addPrinted(l)
	case t == nil:
		w.addOutside(l)
	case t.state == goSkipped: // it says why
		w.passedLine(l)
	case t.state == goPassed || t.state == goRunning && w.state == goPassed:
		if w.state == goPassed {
			w.passedLine(l)
		}
	default:
		w.failedLine(l)
	}
}

// passedLine handles a line of a passed test.
func (w *goWriter) passedLine(l []byte) {
	if len(w.testLine) > 0 {
		w.addPrinted(w.testLine)
		w.testLine = w.testLine[:0]
	}
	w.addPrinted(l)
}

// failedLine handles a line of a test that failed or did not end.
func (w *goWriter) failedLine(l []byte) {
	t := w.test
	if t.linesLeft == 0 {
		w.goTests.failedTests++
		t.linesLeft = w.failureLines(w.goTests.failedTests)
		if w.goTests.failedTests > briefFactor*w.maxFailures {
			t.linesLeft = 1
		}
	}
	w.writeTestLine()
	switch {
	case w.failureOpen:
		w.testLines++
		w.addFailureLine(l, notReason)
	case t.linesLeft > 1:
		w.flush()
		w.beginDetail(t.linesLeft)
		w.testLines = 1
		w.addFailureLine(l, notReason)
	case t.linesLeft == 1:
		w.keep(l)
		t.linesLeft = -1
	default:
		w.testLines++
		if beginsWithPlace(l) {
			w.placeLine = append(w.placeLine[:0], l...)
		}
	}
}

func (w *goWriter) writeTestLine() {
	if len(w.testLine) > 0 {
		w.keep(w.testLine)
		w.testLine = w.testLine[:0]
	}
}

// markUnfinished keeps the line of a test that did not end.
func (w *goWriter) markUnfinished() { w.writeTestLine(); w.problemSeen = true }

// endOmittedLines keeps the last place among the lines of a test that are left out. A test that
// logs first fails there.
func (w *goWriter) endOmittedLines() {
	omitted := w.testLines
	if len(w.placeLine) > 0 {
		w.keep(w.placeLine)
		omitted--
	}
	if omitted > 0 {
		w.keep(text.Omission(omitted))
	}
}

// switchTest switches to the lines of another test.
func (w *goWriter) switchTest(t *goTest) {
	switch old := w.test; {
	case w.failureOpen && w.inCrash:
		w.endFailure()
	case w.failureOpen:
		w.endFailure()
		old.linesLeft = max(5, old.linesLeft-w.testLines)
	case old != nil && old.linesLeft == -1 && w.testLines > 0:
		w.endOmittedLines()
	}
	w.test, w.testLine, w.inCrash, w.testLines, w.placeLine = t, w.testLine[:0], false, 0, w.placeLine[:0]
}
