package testreport

import "bytes"

// jsFile matches "PASS ./x.test.js (5.2 s)" and "FAIL src/x.test.js".
func jsFile(l []byte) bool {
	if !begins(l, "PASS ") && !begins(l, "FAIL ") {
		return false
	}
	name := l[5:]
	for _, part := range [...]string{".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"} {
		if at := bytes.Index(name, []byte(part)); at > 0 && (at+len(part) == len(name) || name[at+len(part)] == ' ' || name[at+len(part)] == 'x') {
			return true
		}
	}
	return false
}

// jestFile matches " FAIL src/x.test.js", as jest writes it in colours. Vitest
// adds the name of a test, or the file again.
func jestFile(l []byte) bool {
	return (begins(l, " PASS  ") || begins(l, " FAIL  ")) && jsFile(l[1:]) && !contains(l, " > ") && !ends(l, " ]")
}

// jsCount matches " 12 passing (20ms)" and " 1 failed".
func jsCount(l []byte) bool {
	inner := bytes.TrimLeft(l, " ")
	if len(l)-len(inner) > 6 || len(inner) == len(l) {
		return false
	}
	_, n := leadingNumber(inner)
	return n > 0 && jsCounts.match(inner[n:])
}

var jsCounts = newPrefixes(" passing", " failing", " pending", " passed", " failed", " skipped", " flaky", " did not run", " interrupted", " todo")

// testSign is the meaning of the sign before the name of a test.
type testSign uint8

func jsSign(l []byte) testSign {
	if len(l) < 4 {
		return noSign
	}
	if l[0] >= 0xc3 {
		switch {
		case beginsAny(l, "✓ ", "✔ ", "√ ", "✓  ", "✅ "):
			return passSign
		case beginsAny(l, "✕ ", "✗ ", "× ", "✖ ", "✘ ", "✘  ", "❌ "):
			return failSign
		case beginsAny(l, "○ ", "↓ ", "﹣ ", "◌ ", "⊝ ", "✎ ", "▣ ", "⏭ "):
			return skipSign
		}
	}
	return noSign
}

// codeContext matches an unmarked line of a code frame: " 12 | x()".
func codeContext(inner []byte) bool {
	_, n := leadingNumber(inner)
	return n > 0 && (begins(inner[n:], " |") || begins(inner[n:], "|"))
}

// jsReason reports whether a line says why a test failed.
func jsReason(l []byte) bool {
	at := bytes.IndexByte(l, ':')
	return at > 0 && contains(l[:at], "Error") || beginsAny(l, "expect(", "Expected")
}

// jsName returns the name of a test without its time.
func jsName(l []byte) []byte {
	if at := bytes.LastIndex(l, []byte(" (")); at > 0 && ends(l, ")") {
		l = l[:at]
	}
	return l
}

// jsNumbered matches " 1) suite test".
func jsNumbered(l, inner []byte) bool {
	if len(l)-len(inner) < 2 {
		return false
	}
	_, n := leadingNumber(inner)
	return n > 0 && n < 6 && begins(inner[n:], ") ")
}

// summary handles a line without indentation outside of failures.
func (j *jsTests) summary(l []byte) bool {
	switch l[0] {
	case 'T', 'S', 'R', 'D', 'J':
		switch {
		case beginsAny(l, "Test Suites: ", "Tests: ", "Snapshots: ", "Time: "):
			j.leave()
			j.titles.end(j.testPass)
			j.keep(l)
			return true
		case string(l) == "Ran all test suites.", begins(l, "Determining test suites to run..."), begins(l, "RUNS "):
			return true
		case begins(l, "Summary of all failing tests"):
			j.leave()
			j.again = true
			return true
		case begins(l, "Snapshot Summary"):
			j.leave()
			j.keep(l)
			return true
		case begins(l, "Running ") && contains(l, " using ") && contains(l, " worker"):
			j.tests = true
			return true
		case begins(l, "Jest: "):
			j.failed(l)
			return true
		}
	case 's':
		if begins(l, "stdout | ") || begins(l, "stderr | ") {
			j.leave()
			j.in = jsStdout
			j.prints(l)
			return true
		}
	case '[':
		if _, n := leadingNumber(l[1:]); n > 0 && contains(l, "] [") && contains(l, " › ") || n > 0 && begins(l[1+n:], "/") && contains(l, " › ") { // playwright's line reporter
			return true
		}
	case 0xe2:
		if j.signed(l) {
			return true
		}
	case '-', '|', 'F', 'A':
		return j.coverage(l, l)
	}
	if j.table && contains(l, "|") {
		return j.coverage(l, l)
	}
	return false
}

// signed handles a line that begins with a sign such as "▶", other than the results of
// tests.
func (j *jsTests) signed(l []byte) bool {
	switch {
	case begins(l, "⎯⎯"):
		j.leave()
		switch {
		case contains(l, "Unhandled Rejection"), contains(l, "Uncaught Exception"), contains(l, "Unhandled Error") && !contains(l, "Errors"):
			j.fail(bytes.Trim(l, "⎯ "), l)
			j.in = jsBlock
		case contains(l, "Failed"), contains(l, "Unhandled"), contains(l, "Error"):
			j.failed(l)
		}
	case begins(l, "▶ "):
		if j.begun {
			return false
		}
		j.titles.title(l, 0, j.testPass)
	case begins(l, "ℹ "):
		j.info(l)
	case begins(l, "❯ "):
	default:
		return false
	}
	return true
}

// info handles node's "ℹ pass 4".
func (j *jsTests) info(l []byte) {
	j.leave()
	j.titles.end(j.testPass)
	rest := l[len("ℹ "):]
	switch {
	case beginsAny(rest, "cancelled 0", "skipped 0", "todo 0", "suites ", "duration_ms "):
	case begins(rest, "start of coverage report"):
		j.table = true
	case begins(rest, "end of coverage report"):
		j.table = false
	case j.table && contains(rest, "|"):
		j.coverage(l, rest)
	default:
		j.keep(l)
	}
}

// coverage handles a row of a table. Fully covered files are dropped.
func (j *jsTests) coverage(l, inner []byte) bool {
	bar := bytes.IndexByte(inner, '|')
	if bar < 0 {
		return false
	}
	if bytes.Trim(inner, "-|") == nil {
		j.leave()
		j.table = true
		return true
	}
	head := bytes.TrimSpace(inner[:bar])
	switch {
	case string(head) == "File" || string(head) == "file" || begins(head, "File "):
		j.leave()
		j.table = true
		j.keep(l)
	case !j.table:
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
	list  []jsTitle
	tests bool // a test was seen
}

type jsTitle struct {
	text   []byte
	indent int
	sure   bool // a deeper test followed
	kept   bool
}

// title handles a line that may be a title.
func (t *jsTitles) title(l []byte, indent int, p *testPass) {
	t.pop(indent, p)
	n := len(t.list)
	if n < cap(t.list) {
		t.list = t.list[:n+1]
	} else {
		t.list = append(t.list, jsTitle{})
	}
	e := &t.list[n]
	e.text, e.indent, e.sure, e.kept = append(e.text[:0], l...), indent, false, false
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
		case e.sure || e.kept:
		case t.tests:
			p.prints(e.text)
		default:
			p.loose(e.text)
		}
	}
	t.list = t.list[:n]
}

// sign handles the result of a test.
func (t *jsTitles) sign(indent int, failed bool, p *testPass) {
	t.tests = true
	t.pop(indent, p)
	for i := range t.list {
		e := &t.list[i]
		e.sure = true
		if failed && !e.kept {
			e.kept = true
			p.failed(e.text)
		}
	}
}

func (t *jsTitles) end(p *testPass) { t.write(0, p) }
