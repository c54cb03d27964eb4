package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// jsTests recognises jest, vitest, mocha, node --test, playwright, ava, bun and
// others that mark tests by signs.
type jsTests struct {
	*testPass
	part         jsPart
	titles       jsTitles
	failedName   []byte          // the last failed test
	currentFile  []byte          // the last "FAIL x.test.js"
	reported     map[string]bool // failures that were shown, by testKey; jest's begin with their file
	inTable      bool            // within a coverage table
	failedFiles  [][]byte        // files of failures, as they were first written
	avaFailures  [][]byte        // ava: failed tests with reasons
	inRepeats    bool            // jest repeats all failures
	testSeen     bool            // the result of a test was seen
	inReasons    bool            // after mocha's "2 failing"
	frameLine    []byte          // the last unmarked line of a code frame
	failedIndent int             // indentation of the failed test in jsTree
	inHints      bool            // jest's advice about code that it cannot parse
	isVitest     bool            // " RUN  v1" was seen
	notedTests   int             // lines about skipped or repeated tests
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
		return isJSFile(l)
	case 'D':
		return begins(l, "Determining test suites to run...")
	case 'T':
		return begins(l, "Test Suites: ") || begins(l, "Tests:       ")
	case ' ':
		if signOf(bytes.TrimLeft(l, " ")) != noSign {
			return true
		}
		return begins(l, " RUN  v") || begins(l, " RUNS  ") || begins(l, " Test Files  ") || begins(l, " FAIL  ") || isJSCount(l)
	case 0xe2:
		return signOf(l) != noSign || begins(l, "▶ ") || begins(l, "ℹ tests ")
	case '(':
		return text.HasAnyPrefix(l, "(pass) ", "(fail) ")
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

func (j *jsTests) handle(l []byte) bool {
	if isColouredJestFile(l) { // coloured output has a space before it
		l = l[1:]
	}
	inner := bytes.TrimLeft(l, " ")
	indent := len(l) - len(inner)
	if j.handleBlockLine(l, inner, indent) {
		return true
	}
	switch s := signOf(inner); s {
	case passSign, skipSign:
		j.testSeen = true
		j.leavePart()
		j.titles.handleResult(indent, j.testPass)
		if contains(l, "(retry x") || s == skipSign && contains(l, ") # ") { // with the reason for skipping
			if j.notedTests++; j.notedTests <= maxNotedTests {
				j.keep(l)
			}
		}
		return true
	case failSign:
		return j.handleFailedTest(l, inner, indent)
	}
	switch l[0] {
	case ' ':
		return j.handleIndented(l, inner, indent)
	case 'P', 'F':
		if isJSFile(l) {
			j.leavePart()
			j.titles.end(j.testPass)
			j.testSeen = true
			if l[0] == 'F' {
				j.problemSeen = true
				file := j.firstName(bytes.TrimLeft(l[len("FAIL"):], " "))
				if bytes.Equal(j.currentFile, file) {
					return true
				}
				j.currentFile = append(j.currentFile[:0], file...)
				if !j.inRepeats {
					j.keepFailure(l)
				}
			}
			return true
		}
	case '(':
		switch {
		case begins(l, "(pass) "):
			return true
		case begins(l, "(fail) "):
			j.keepFailure(l)
			return true
		}
	}
	return j.handleSummary(l)
}

// markReported records that a failure was reported.
func (j *jsTests) markReported(id string) {
	if len(j.reported) < 20*maxNamedFailures {
		j.reported[id] = true
	}
}

// firstName returns a file's name as it was first written. Jest repeats it relative
// to rootDir.
func (j *jsTests) firstName(file []byte) []byte {
	file, _, _ = bytes.Cut(file, []byte(" ("))
	if !j.inRepeats {
		if len(j.failedFiles) < maxNamedFailures {
			j.failedFiles = append(j.failedFiles, bytes.Clone(file))
		}
		return file
	}
	below := append([]byte("/"), bytes.TrimPrefix(file, []byte("./"))...)
	var first []byte
	for _, f := range j.failedFiles {
		switch {
		case bytes.Equal(f, file):
			return file
		case !bytes.HasSuffix(f, below) && !bytes.HasSuffix(file, append([]byte("/"), f...)) || bytes.Equal(f, first):
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

// leavePart ends the block.
func (j *jsTests) leavePart() {
	if j.failureOpen {
		j.endFailure()
	}
	j.part = jsTop
}

func (j *jsTests) blank() bool {
	if j.part == jsStdout {
		j.part = jsTop
	}
	n := len(j.titles.list)
	for n > 0 && !j.titles.list[n-1].isTitle {
		n--
	}
	j.titles.write(n, j.testPass)
	return false
}

// handleFailedTest handles a line of a failed test.
func (j *jsTests) handleFailedTest(l, inner []byte, indent int) bool {
	j.problemSeen = true
	if begins(inner, "✖ failing tests:") {
		j.leavePart()
		j.titles.end(j.testPass)
		j.inReasons = true
		j.keepFailure(l)
		return true
	}
	if j.inReasons && indent == 0 { // node repeats it with the reason
		name := withoutTime(inner)
		j.leavePart()
		if j.reported[testKey(name)] {
			j.keepFailure(l)
			j.part = jsRepeat
			return true
		}
		j.beginFailure(name, l)
		j.part = jsCause
		return true
	}
	j.leavePart()
	j.testSeen = true
	j.titles.handleFailure(indent, j.testPass)
	if j.namedFailures++; j.namedFailures > maxNamedFailures {
		j.lossy = true
		return true
	}
	j.keepFailure(l)
	j.part, j.failedIndent = jsTree, indent
	j.failedName = append(j.failedName[:0], withoutTime(inner)...)
	if _, name, ok := bytes.Cut(inner, []byte("]: ")); ok && begins(inner, "✘ [") {
		j.avaFailures = append(j.avaFailures, bytes.Clone(name))
	}
	return true
}

// handleIndented handles an indented line outside of failures.
func (j *jsTests) handleIndented(l, inner []byte, indent int) bool {
	switch {
	case begins(inner, "● "):
		return j.handleBullet(l, inner)
	case begins(inner, "❯ "):
		j.leavePart()
		j.titles.end(j.testPass)
		if contains(inner, "failed") || indent > 2 {
			j.problemSeen = true
			j.keepFailure(l)
		}
		return true
	case begins(l, " FAIL  "):
		return j.handleVitestFailure(l)
	case len(j.avaFailures) > 0 && string(l) == "  ─":
		j.leavePart()
		j.titles.end(j.testPass)
		j.keep(l)
		j.part = jsAva
		return true
	case isNumbered(l, inner):
		j.titles.handleFailure(indent, j.testPass)
		j.handleNumber(l, inner)
		return true
	case begins(l, " RUN  v"):
		j.isVitest = true
		return true
	case begins(l, "   Start at  "), begins(l, "  Start at  "), begins(inner, "RUNS "), j.isVitest && isVitestProgress(inner),
		isPlaywrightStart(inner):
		return true
	case text.HasAnyPrefix(inner, "Test Files  ", "Tests  ", "Snapshots  ", "Errors  ", "Type Errors  ", "Duration  ") && indent <= 6:
		j.leavePart()
		j.titles.end(j.testPass)
		j.keep(l)
		return true
	case isJSCount(l):
		j.leavePart()
		j.titles.end(j.testPass)
		if contains(inner, " failing") || contains(inner, " failed") {
			j.problemSeen, j.inReasons = true, true
		}
		j.keep(l)
		return true
	case begins(inner, "→ "):
		j.addFailureLine(l, isReason)
		return true
	case begins(inner, "- ") && j.testSeen && !j.inReasons: // mocha: pending
		j.titles.handleResult(indent, j.testPass)
		return true
	}
	if j.handleCoverage(l, inner) {
		return true
	}
	if indent >= 2 && indent <= 20 && indent%2 == 0 && !j.inReasons && inner[0] != '|' && inner[0] != '>' {
		j.titles.add(l, indent, j.testPass)
		return true
	}
	return false
}

// handleBullet handles jest's " ● suite › test".
func (j *jsTests) handleBullet(l, inner []byte) bool {
	j.leavePart()
	j.titles.end(j.testPass)
	name := inner[len("● "):]
	if string(name) == "Console" {
		j.addPrinted(l)
		j.part = jsConsole
		return true
	}
	j.problemSeen = true
	id := testKey(j.currentFile) + "\n" + testKey(name)
	if j.inRepeats && j.reported[id] {
		j.part = jsRepeat
		return true
	}
	j.markReported(id)
	j.beginFailure(name, l)
	j.part = jsBullet
	return true
}

// handleConsole handles the output of a file's tests, with its places.
func (j *jsTests) handleConsole(l, inner []byte) {
	if text.HasAnyPrefix(inner, "at ") {
		if isLibraryLine(l, atFrame) {
			return
		}
	}
	j.addPrinted(l)
}

// handleVitestFailure handles " FAIL file > test".
func (j *jsTests) handleVitestFailure(l []byte) bool {
	j.leavePart()
	j.titles.end(j.testPass)
	j.problemSeen = true
	name := bytes.TrimSpace(l[len(" FAIL  "):])
	j.beginFailure(name, l)
	j.part = jsBlock
	return true
}

// handleNumber handles " 1) suite" of mocha and playwright, in the tree of tests or
// above a reason.
func (j *jsTests) handleNumber(l, inner []byte) {
	j.leavePart()
	j.problemSeen = true
	if j.testSeen && !j.inReasons && !contains(inner, " › ") {
		j.keepFailure(l)
		return
	}
	_, name, _ := bytes.Cut(inner, []byte(") "))
	j.beginFailure(bytes.TrimRight(name, " ─"), l)
	j.part = jsNumber
}

func (j *jsTests) handleOther(l []byte) {
	j.titles.end(j.testPass)
	if j.testSeen && !j.inReasons && j.part == jsTop && (j.run.Exit == 0 || j.problemSeen) && !text.Important(l) {
		j.addPrinted(l)
		return
	}
	j.addOutside(l)
}

func (j *jsTests) end() {
	j.leavePart()
	j.titles.end(j.testPass)
}
