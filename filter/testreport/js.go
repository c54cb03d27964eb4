package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// jsTests recognises jest, vitest, mocha, node --test, playwright, ava, bun and
// others that mark tests by signs.
type jsTests struct {
	*testPass
	in       jsPart
	titles   jsTitles
	test     []byte          // the last failed test
	file     []byte          // the last "FAIL x.test.js"
	reported map[string]bool // failures that were reported
	table    bool            // within a coverage table
	files    [][]byte        // files of failures, as they were first written
	names    [][]byte        // ava: failed tests with reasons
	again    bool            // jest repeats all failures
	tests    bool            // the result of a test was seen
	begun    bool            // after mocha's "2 failing"
	context  []byte          // a line of a code frame
	deep     int             // indentation of the failed test in jsTree
	hints    bool            // jest's advice about code that it cannot parse
	quiet    bool            // after a file that passed: its output follows
	noted    int             // lines about skipped or repeated tests
}

// jsPart is a part of the output.
type jsPart uint8

const (
	jsTop     jsPart = iota
	jsBullet         // jest: " ● suite › test" and the indented lines after it
	jsBlock          // vitest: " FAIL file > test", up to a line of "⎯"
	jsNumber         // mocha, playwright: " 1) suite" and the indented lines after it
	jsTree           // the deeper lines after "✖ test"
	jsCause          // node: "✖ test" after "✖ failing tests:"
	jsRepeat         // jest: repeated failures
	jsConsole        // the output of a file's tests
	jsStdout         // vitest: "stdout | file > test", up to a blank line
	jsAva            // ava: between two lines of "─", each failure below its name
)

func newJSTests(p *testPass) testRunner {
	return &jsTests{testPass: p, reported: map[string]bool{}}
}

func claimsJS(l []byte) bool {
	switch l[0] {
	case 'P', 'F':
		return jsFile(l)
	case 'T':
		return begins(l, "Test Suites: ") || begins(l, "Tests:       ")
	case ' ':
		if jsSign(bytes.TrimLeft(l, " ")) != noSign {
			return true
		}
		return begins(l, " RUN  v") || begins(l, " Test Files  ") || begins(l, " FAIL  ") || jsCount(l)
	case 0xe2:
		return jsSign(l) != noSign || begins(l, "▶ ") || begins(l, "ℹ tests ")
	case '(':
		return beginsAny(l, "(pass) ", "(fail) ")
	case 'R':
		return begins(l, "Running ") && contains(l, " using ") && contains(l, " worker")
	}
	return false
}

const (
	noSign testSign = iota
	passSign
	failSign
	skipSign
)

func (j *jsTests) shape(l []byte) bool {
	if jestFile(l) { // coloured output has a space before it
		l = l[1:]
	}
	inner := bytes.TrimLeft(l, " ")
	indent := len(l) - len(inner)
	if j.inBlock(l, inner, indent) {
		return true
	}
	switch s := jsSign(inner); s {
	case passSign, skipSign:
		j.tests = true
		j.leave()
		j.titles.sign(indent, false, j.testPass)
		if contains(l, "(retry x") || s == skipSign && contains(l, ") # ") { // with the reason for skipping
			if j.noted++; j.noted <= notedTests {
				j.keep(l)
			}
		}
		return true
	case failSign:
		return j.failedTest(l, inner, indent)
	}
	switch l[0] {
	case ' ':
		return j.indented(l, inner, indent)
	case 'P', 'F':
		if jsFile(l) {
			j.leave()
			j.titles.end(j.testPass)
			j.tests = true
			if j.quiet = l[0] == 'P'; !j.quiet {
				j.bad = true
				file := j.firstName(bytes.TrimLeft(l[len("FAIL"):], " "))
				if bytes.Equal(j.file, file) {
					return true
				}
				j.file = append(j.file[:0], file...)
				if !j.again {
					j.failed(l)
				}
			}
			return true
		}
	case '(':
		switch {
		case begins(l, "(pass) "):
			return true
		case begins(l, "(fail) "):
			j.failed(l)
			return true
		}
	}
	return j.summary(l)
}

// markReported records that a failure was reported.
func (j *jsTests) markReported(id string) {
	if len(j.reported) < 20*toldFailures {
		j.reported[id] = true
	}
}

// firstName returns a file's name as it was first written. Jest repeats it relative
// to rootDir.
func (j *jsTests) firstName(file []byte) []byte {
	file, _, _ = bytes.Cut(file, []byte(" ("))
	if !j.again {
		if len(j.files) < toldFailures {
			j.files = append(j.files, bytes.Clone(file))
		}
		return file
	}
	below := append([]byte("/"), bytes.TrimPrefix(file, []byte("./"))...)
	var first []byte
	for _, f := range j.files {
		switch {
		case bytes.Equal(f, file):
			return file
		case !bytes.HasSuffix(f, below) || bytes.Equal(f, first):
		case first != nil: // ambiguous
			return file
		default:
			first = f
		}
	}
	if first != nil {
		return first
	}
	return file
}

// leave ends the block.
func (j *jsTests) leave() {
	if j.open {
		j.close()
	}
	j.in = jsTop
}

func (j *jsTests) blank() bool {
	if j.in == jsStdout {
		j.in = jsTop
	}
	n := len(j.titles.list)
	for n > 0 && !j.titles.list[n-1].sure {
		n--
	}
	j.titles.write(n, j.testPass)
	return false
}

// failedTest handles a line of a failed test.
func (j *jsTests) failedTest(l, inner []byte, indent int) bool {
	j.bad = true
	if begins(inner, "✖ failing tests:") {
		j.leave()
		j.titles.end(j.testPass)
		j.begun = true
		j.failed(l)
		return true
	}
	if j.begun && indent == 0 { // node repeats it with the reason
		name := jsName(inner)
		j.leave()
		if j.reported[testKey(name)] {
			j.failed(l)
			j.in = jsRepeat
			return true
		}
		j.fail(name, l)
		j.in = jsCause
		return true
	}
	j.leave()
	j.tests = true
	j.titles.sign(indent, true, j.testPass)
	if j.named++; j.named > toldFailures {
		j.lossy = true
		return true
	}
	j.failed(l)
	j.in, j.deep = jsTree, indent
	j.test = append(j.test[:0], jsName(inner)...)
	if _, name, ok := bytes.Cut(inner, []byte("]: ")); ok && begins(inner, "✘ [") {
		j.names = append(j.names, bytes.Clone(name))
	}
	return true
}

// indented handles an indented line outside of failures.
func (j *jsTests) indented(l, inner []byte, indent int) bool {
	switch {
	case begins(inner, "● "):
		return j.bullet(l, inner)
	case begins(inner, "❯ "):
		j.leave()
		j.titles.end(j.testPass)
		if contains(inner, "failed") || indent > 2 {
			j.bad = true
			j.failed(l)
		}
		return true
	case begins(l, " FAIL  "):
		return j.vitestFailed(l)
	case len(j.names) > 0 && string(l) == "  ─":
		j.leave()
		j.titles.end(j.testPass)
		j.keep(l)
		j.in = jsAva
		return true
	case jsNumbered(l, inner):
		j.titles.sign(indent, true, j.testPass)
		j.number(l, inner)
		return true
	case begins(l, " RUN  v"), begins(l, "   Start at  "), begins(l, "  Start at  "), begins(inner, "RUNS "):
		return true
	case beginsAny(inner, "Test Files  ", "Tests  ", "Snapshots  ", "Errors  ", "Type Errors  ", "Duration  ") && indent <= 6:
		j.leave()
		j.titles.end(j.testPass)
		j.keep(l)
		return true
	case jsCount(l):
		j.leave()
		j.titles.end(j.testPass)
		if contains(inner, " failing") || contains(inner, " failed") {
			j.bad, j.begun = true, true
		}
		j.keep(l)
		return true
	case begins(inner, "→ "):
		j.failureLine(l, true)
		return true
	case begins(inner, "- ") && j.tests && !j.begun: // mocha: pending
		j.titles.sign(indent, false, j.testPass)
		return true
	}
	if j.coverage(l, inner) {
		return true
	}
	if indent >= 2 && indent <= 20 && indent%2 == 0 && !j.begun && inner[0] != '|' && inner[0] != '>' {
		j.titles.title(l, indent, j.testPass)
		return true
	}
	return false
}

// bullet handles jest's " ● suite › test".
func (j *jsTests) bullet(l, inner []byte) bool {
	j.leave()
	j.titles.end(j.testPass)
	name := inner[len("● "):]
	if string(name) == "Console" {
		j.prints(l)
		j.in = jsConsole
		return true
	}
	j.bad = true
	id := testKey(j.file) + "\n" + testKey(name)
	if j.again && j.reported[id] {
		j.in = jsRepeat
		return true
	}
	j.markReported(id)
	j.fail(name, l)
	j.in = jsBullet
	return true
}

// console handles the output of a file's tests, with its places.
func (j *jsTests) console(l, inner []byte) {
	if beginsAny(inner, "at ") {
		if isLibraryLine(l, atFrame) {
			return
		}
	}
	j.prints(l)
}

// vitestFailed handles " FAIL file > test".
func (j *jsTests) vitestFailed(l []byte) bool {
	j.leave()
	j.titles.end(j.testPass)
	j.bad = true
	name := bytes.TrimSpace(l[len(" FAIL  "):])
	j.fail(name, l)
	j.in = jsBlock
	return true
}

// number handles " 1) suite" of mocha and playwright, in the tree of tests or
// above a reason.
func (j *jsTests) number(l, inner []byte) {
	j.leave()
	j.bad = true
	if j.tests && !j.begun && !contains(inner, " › ") {
		j.failed(l)
		return
	}
	_, name, _ := bytes.Cut(inner, []byte(") "))
	j.fail(bytes.TrimRight(name, " ─"), l)
	j.in = jsNumber
}

func (j *jsTests) other(l []byte) {
	j.titles.end(j.testPass)
	if j.tests && !j.begun && j.in == jsTop && (j.run.Exit == 0 || j.bad) && !text.Important(l) {
		j.prints(l)
		return
	}
	j.loose(l)
}

func (j *jsTests) end() {
	j.leave()
	j.titles.end(j.testPass)
}
