package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// isJSFile matches "PASS ./x.test.js (5.2 s)" and "FAIL src/x.test.js".
func isJSFile(l []byte) bool {
	if !begins(l, "PASS ") && !begins(l, "FAIL ") {
		return false
	}
	name := l[5:]
	for _, part := range [...]string{".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"} {
		if at := bytes.Index(name, []byte(part)); at > 0 &&
			(at+len(part) == len(name) || name[at+len(part)] == ' ' || name[at+len(part)] == 'x') {
			return true
		}
	}
	return false
}

// isColouredJestFile matches " FAIL src/x.test.js", as jest writes it in colours. Vitest
// adds the name of a test, or the file again.
func isColouredJestFile(l []byte) bool {
	return (begins(l, " PASS  ") || begins(l, " FAIL  ")) && isJSFile(l[1:]) && !contains(l, " > ") && !ends(l, " ]")
}

// isJSCount matches " 12 passing (20ms)" and " 1 failed".
func isJSCount(l []byte) bool {
	inner := bytes.TrimLeft(l, " ")
	if len(l)-len(inner) > 6 || len(inner) == len(l) {
		return false
	}
	_, n := leadingNumber(inner)
	return n > 0 && jsCountSuffixes.match(inner[n:])
}

var jsCountSuffixes = newPrefixes(
	" passing", " failing", " pending", " passed", " failed", " skipped", " flaky", " did not run",
	" interrupted", " todo",
)

// isVitestProgress matches the counts that vitest draws in a terminal during a run. The counts of
// its summary are aligned.
func isVitestProgress(inner []byte) bool {
	for _, name := range [...]string{"Test Files ", "Tests ", "Start at ", "Duration "} {
		if begins(inner, name) {
			return len(inner) > len(name) && inner[len(name)] >= '0' && inner[len(name)] <= '9'
		}
	}
	return false
}

// testSign is the meaning of the sign before the name of a test.
type testSign uint8

func signOf(l []byte) testSign {
	if len(l) < 4 {
		return noSign
	}
	if l[0] >= 0xc3 {
		switch {
		case text.HasAnyPrefix(l, "✓ ", "✔ ", "√ ", "✓  ", "✅ "):
			return passSign
		case text.HasAnyPrefix(l, "✕ ", "✗ ", "× ", "✖ ", "✘ ", "✘  ", "❌ "):
			return failSign
		case text.HasAnyPrefix(l, "○ ", "↓ ", "﹣ ", "◌ ", "⊝ ", "✎ ", "▣ ", "⏭ "):
			return skipSign
		}
	}
	return noSign
}

// isCodeContext matches an unmarked line of a code frame: " 12 | x()".
func isCodeContext(inner []byte) bool {
	_, n := leadingNumber(inner)
	return n > 0 && (begins(inner[n:], " |") || begins(inner[n:], "|"))
}

// isJSReason reports whether a line says why a test failed.
func isJSReason(l []byte) bool {
	at := bytes.IndexByte(l, ':')
	return at > 0 && contains(l[:at], "Error") || text.HasAnyPrefix(l, "expect(", "Expected")
}

// withoutTime returns the name of a test without its time.
func withoutTime(l []byte) []byte {
	if at := bytes.LastIndex(l, []byte(" (")); at > 0 && ends(l, ")") {
		l = l[:at]
	}
	return l
}

// isNumbered matches " 1) suite test".
func isNumbered(l, inner []byte) bool {
	if len(l)-len(inner) < 2 {
		return false
	}
	_, n := leadingNumber(inner)
	return n > 0 && n < 6 && begins(inner[n:], ") ")
}

// isPlaywrightStart reports whether Playwright's list reporter begins a test on a terminal: the line of a
// result, without its mark.
func isPlaywrightStart(inner []byte) bool {
	_, n := leadingNumber(inner)
	return n > 0 && begins(inner[n:], " ") && contains(inner, " › ")
}

// handleSummary handles a line without indentation outside of failures.
func (j *jsTests) handleSummary(l []byte) bool {
	switch l[0] {
	case 'T', 'S', 'R', 'D', 'J':
		switch {
		case text.HasAnyPrefix(l, "Test Suites: ", "Tests: ", "Snapshots: ", "Time: "):
			j.leavePart()
			j.titles.end(j.testPass)
			j.keep(l)
			return true
		case string(l) == "Ran all test suites.", begins(l, "Determining test suites to run..."), begins(l, "RUNS "):
			return true
		case begins(l, "Summary of all failing tests"):
			j.leavePart()
			j.inRepeats = true
			return true
		case begins(l, "Snapshot Summary"):
			j.leavePart()
			j.keep(l)
			return true
		case begins(l, "Running ") && contains(l, " using ") && contains(l, " worker"):
			j.testSeen = true
			return true
		case begins(l, "Jest: "):
			j.keepFailure(l)
			return true
		}
	case 's':
		if begins(l, "stdout | ") || begins(l, "stderr | ") {
			j.leavePart()
			j.part = jsStdout
			j.addPrinted(l)
			return true
		}
	case '[':
		// playwright's line reporter
		if _, n := leadingNumber(l[1:]); n > 0 && contains(l, "] [") && contains(l, " › ") ||
			n > 0 && begins(l[1+n:], "/") && contains(l, " › ") {
			return true
		}
	case 0xe2:
		if j.handleSigned(l) {
			return true
		}
	case '-', '|', 'F', 'A':
		return j.handleCoverage(l, l)
	}
	if j.inTable && contains(l, "|") {
		return j.handleCoverage(l, l)
	}
	return false
}

// handleSigned handles a line that begins with a sign such as "▶", other than the results of
// tests.
func (j *jsTests) handleSigned(l []byte) bool {
	switch {
	case begins(l, "⎯⎯"):
		j.leavePart()
		switch {
		case contains(l, "Unhandled Rejection"),
			contains(l, "Uncaught Exception"),
			contains(l, "Unhandled Error") && !contains(l, "Errors"):
			j.beginFailure(bytes.Trim(l, "⎯ "), l)
			j.part = jsBlock
		case contains(l, "Failed"), contains(l, "Unhandled"), contains(l, "Error"):
			j.keepFailure(l)
		}
	case begins(l, "▶ "):
		if j.inReasons {
			return false
		}
		j.titles.add(l, 0, j.testPass)
	case begins(l, "ℹ "):
		j.handleInfo(l)
	case begins(l, "❯ "):
	default:
		return false
	}
	return true
}

// handleInfo handles node's "ℹ pass 4".
func (j *jsTests) handleInfo(l []byte) {
	j.leavePart()
	j.titles.end(j.testPass)
	rest := l[len("ℹ "):]
	switch {
	case text.HasAnyPrefix(rest, "cancelled 0", "skipped 0", "todo 0", "suites ", "duration_ms "):
	case begins(rest, "start of coverage report"):
		j.inTable = true
	case begins(rest, "end of coverage report"):
		j.inTable = false
	case j.inTable && contains(rest, "|"):
		j.handleCoverage(l, rest)
	default:
		j.keep(l)
	}
}

// handleCoverage handles a row of a table. Fully covered files are dropped.
func (j *jsTests) handleCoverage(l, inner []byte) bool {
	bar := bytes.IndexByte(inner, '|')
	if bar < 0 {
		return false
	}
	if bytes.Trim(inner, "-|") == nil {
		j.leavePart()
		j.inTable = true
		return true
	}
	head := bytes.TrimSpace(inner[:bar])
	switch {
	case string(head) == "File" || string(head) == "file" || begins(head, "File "):
		j.leavePart()
		j.inTable = true
		j.keep(l)
	case !j.inTable:
		return false
	case begins(inner, "All files"), begins(inner, "all files"):
		j.keep(l)
	default:
		cells := bytes.Split(inner[bar+1:], []byte("|"))
		whole := len(cells) >= 3
		for _, c := range cells[:min(3, len(cells))] {
			c = bytes.TrimSpace(c)
			whole = whole && (string(c) == "100" || string(c) == "100.00")
		}
		if !whole {
			j.keep(l)
		}
	}
	return true
}

// jsTitles are the titles of nested suites. They stay with a failed test. A
// title without tests was the output of a test.
type jsTitles struct {
	list     []jsTitle
	testSeen bool // a test was seen
}

// jsTitle is a line that may be the title of a suite.
type jsTitle struct {
	text    []byte
	indent  int
	isTitle bool // a deeper test followed
	written bool
}

// add handles a line that may be a title.
func (t *jsTitles) add(l []byte, indent int, p *testPass) {
	t.pop(indent, p)
	n := len(t.list)
	if n < cap(t.list) {
		t.list = t.list[:n+1]
	} else {
		t.list = append(t.list, jsTitle{})
	}
	e := &t.list[n]
	e.text, e.indent, e.isTitle, e.written = append(e.text[:0], l...), indent, false, false
}

// pop removes titles that are not above a line with this indentation.
func (t *jsTitles) pop(indent int, p *testPass) {
	n := len(t.list)
	for n > 0 && t.list[n-1].indent >= indent {
		n--
	}
	t.write(n, p)
}

// write writes the titles from n on that turned out to be output, and removes
// them.
func (t *jsTitles) write(n int, p *testPass) {
	for _, e := range t.list[n:] {
		switch {
		case e.isTitle || e.written:
		case t.testSeen:
			p.addPrinted(e.text)
		default:
			p.addOutside(e.text)
		}
	}
	t.list = t.list[:n]
}

// handleResult handles the result of a test with this indentation.
func (t *jsTitles) handleResult(indent int, p *testPass) {
	t.testSeen = true
	t.pop(indent, p)
	for i := range t.list {
		t.list[i].isTitle = true
	}
}

// handleFailure handles the result of a failed test. It writes the titles of its suites.
func (t *jsTitles) handleFailure(indent int, p *testPass) {
	t.handleResult(indent, p)
	for i := range t.list {
		if e := &t.list[i]; !e.written {
			e.written = true
			p.keepFailure(e.text)
		}
	}
}

func (t *jsTitles) end(p *testPass) { t.write(0, p) }
