package testreport

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// pytestTests recognises pytest, with xdist and coverage.
type pytestTests struct {
	*testPass
	section         pytestPart
	unshownFailures heldLines // lines that name a failed test, until other lines show it
	unshownSigns    heldLines // the last lines with signs of failures, until other lines show them
	omittedRows     int       // dropped rows of the summary
	shownSkips      int       // lines about tests that neither passed nor failed
	summaryNames    int       // failed tests in the summary
	warnings        int
	warningTest     []byte   // the test of a warning, until written
	runningTests    []string // tests that began and have no result yet, the newest last
	headSeen        bool     // the head of the output was seen
	awaitsResult    bool     // a test has begun without a result
	instantFailures bool     // failures are shown where they happen, among the progress
	listsTests      bool     // the command lists tests instead of running them
}

// pytestPart is a section of the output.
type pytestPart uint8

const (
	pytestTop pytestPart = iota
	pytestProgress
	pytestFailures
	pytestPasses
	pytestWarnings
	pytestSummary
	pytestCoverage
	pytestOther
)

func newPytest(p *testPass) testRunner {
	return &pytestTests{testPass: p, listsTests: slices.ContainsFunc(strings.Fields(p.run.Command), func(word string) bool {
		return word == "--co" || word == "--collect-only" || word == "--collectonly"
	})}
}

func (p *pytestTests) handle(l []byte) bool {
	if l[0] == '=' {
		if title, ok := ruledTitle(l, "="); ok && p.beginSection(title, l) {
			return true
		}
	}
	switch p.section {
	case pytestFailures, pytestPasses:
		return p.handleBlockLine(l)
	case pytestWarnings:
		return p.handleWarning(l)
	case pytestSummary:
		if p.handleSummary(l) {
			return true
		}
	case pytestCoverage:
		if p.handleCoverage(l) {
			return true
		}
	}
	return p.handleProgress(l) || p.handleTop(l)
}

// beginSection begins a section of the output.
func (p *pytestTests) beginSection(title, l []byte) bool {
	text := string(title)
	switch {
	case text == "test session starts":
		p.leaveSection()
		p.section, p.headSeen, p.instantFailures = pytestTop, true, false
		return true
	case text == "FAILURES", text == "ERRORS":
		p.leaveSection()
		p.unshownSigns.drop()
		p.section, p.instantFailures = pytestFailures, false
		p.keepFailure(l)
	case text == "PASSES":
		p.leaveSection()
		p.section = pytestPasses
	case text == "warnings summary", begins(title, "warnings summary"):
		p.leaveSection()
		p.section = pytestWarnings
		p.keep(l)
	case text == "short test summary info":
		p.leaveSection()
		p.unshownSigns.drop()
		p.section = pytestSummary
		p.keep(l)
	case text == "tests coverage":
		p.leaveSection()
		p.section = pytestCoverage
	case isPytestTotal(title):
		p.handleTotal(l)
	case p.section == pytestFailures && p.failureOpen && !contains(title, "summary") &&
		!contains(title, "slowest") && !contains(title, " durations"):
		return false
	default:
		p.leaveSection()
		p.section = pytestOther
		p.keep(l)
	}
	return true
}

// handleTotal handles the last line of a run.
func (p *pytestTests) handleTotal(l []byte) {
	p.leaveSection()
	p.unshownFailures.write(p.testPass.keepFailure)
	p.unshownSigns.drop()
	p.section, p.awaitsResult, p.runningTests = pytestOther, false, nil
	p.keep(l)
	if contains(l, " failed") || contains(l, " error") || begins(bytes.Trim(l, "= "), "no tests ran") {
		p.problemSeen = true
	}
}

// leaveSection ends the section.
func (p *pytestTests) leaveSection() {
	p.endFailure()
	p.section = pytestOther
}

// handleBlockLine handles a line about a failed or passed test.
func (p *pytestTests) handleBlockLine(l []byte) bool {
	switch {
	case p.beginBlock(l):
		return true
	case p.instantFailures && (isPytestBar(l) || p.handleProgress(l)):
		p.leaveSection()
		p.section = pytestProgress
		return true
	case l[0] == '!':
		if _, ok := ruledTitle(l, "!"); ok {
			p.leaveSection()
			p.keepFailure(l)
			return true
		}
	case l[0] == '-' && begins(l, "--------"):
		if title, ok := ruledTitle(l, "-"); ok && begins(title, "coverage: ") {
			p.leaveSection()
			p.section = pytestCoverage
			return true
		}
	case isPytestTotal(l):
		p.handleTotal(l)
		return true
	}
	switch {
	case begins(l, "_ _ _ _ _"),
		begins(l, "[gw") && contains(l, "] ") && contains(l, " -- Python "),
		begins(l, "[gw") && contains(l, " Python 3"):
	case p.section == pytestPasses:
		p.addPrinted(l)
	case !p.failureOpen:
		p.addOutside(l)
	default:
		p.addFailureLine(l, begins(l, "E "))
	}
	return true
}

// beginBlock begins the lines about one test if l is their header: "____ test_add
// ____", or the same with horizontal bars from pytest-sugar.
func (p *pytestTests) beginBlock(l []byte) bool {
	title, ok := ruledTitle(l, "_")
	if !ok {
		title, ok = ruledTitle(l, "―")
	}
	switch {
	case !ok || len(title) == 0 || ends(title, " _"):
		return false
	case p.section == pytestPasses:
		p.addPrinted(l)
	default:
		p.instantFailures = p.instantFailures || p.section != pytestFailures
		p.section = pytestFailures
		p.beginFailure(title, l)
	}
	return true
}

// handleWarning handles a line of the warnings summary and keeps the place of each
// warning.
func (p *pytestTests) handleWarning(l []byte) bool {
	switch {
	case begins(l, "-- Docs: "):
		p.leaveSection()
		return true
	case isPytestTotal(l):
		p.handleTotal(l)
		return true
	case l[0] == '-' && begins(l, "--------"):
		p.leaveSection()
		p.section = pytestCoverage
		return p.handleCoverage(l)
	}
	const most = 15
	switch {
	case l[0] != ' ' && !contains(l, "::") && !contains(l, ".py"):
		p.leaveSection()
		return false
	case l[0] != ' ':
		p.warningTest = append(p.warningTest[:0], l...)
	case begins(l, "  ") && len(l) > 2 && l[2] != ' ':
		if p.warnings++; p.warnings > most {
			p.keepReplaceable(text.Omission(p.warnings - most))
			return true
		}
		if len(p.warningTest) > 0 {
			p.keep(p.warningTest)
			p.warningTest = p.warningTest[:0]
		}
		p.keep(l)
	}
	return true
}

// handleSummary handles a line of the short summary.
func (p *pytestTests) handleSummary(l []byte) bool {
	word, rest, _ := bytes.Cut(l, []byte(" "))
	if at := bytes.IndexAny(word, "(["); at > 0 && begins(word, "SUB") {
		word = word[:at]
	}
	switch string(word) {
	case "FAILED", "ERROR", "SUBFAIL", "SUBFAILED":
		name, _, _ := bytes.Cut(rest, []byte(" - "))
		p.unshownFailures.dropContaining(name)
		if p.summaryNames++; p.summaryNames <= maxNamedFailures {
			p.testPass.keepFailure(l)
		} else {
			p.countOmitted()
		}
	case "SKIPPED", "XFAIL", "XPASS", "RERUN":
		if p.shownSkips++; p.shownSkips <= 10 {
			p.keep(l)
		} else {
			p.countOmitted()
		}
	case "PASSED", "SUBPASS", "SUBPASSED":
	default:
		if begins(l, "!!!!") {
			p.testPass.keepFailure(l)
			return true
		}
		if isPytestTotal(l) {
			p.handleTotal(l)
			return true
		}
		return false
	}
	return true
}

// countOmitted counts a line that is dropped because there were many.
func (p *pytestTests) countOmitted() {
	if !p.hasPending {
		p.omittedRows = 0
	}
	p.omittedRows++
	p.keepReplaceable(text.Omission(p.omittedRows))
}

// handleCoverage handles a row of a coverage table. Fully covered files are dropped.
func (p *pytestTests) handleCoverage(l []byte) bool {
	switch {
	case text.HasAnyPrefix(l, "FAIL ", "ERROR: ", "Required test coverage", "Coverage failure"):
		return false
	case begins(l, "TOTAL "):
		p.keep(l)
	case begins(l, "Name ") && contains(l, "Stmts"):
		p.keep(l)
	case l[0] == '-', l[0] == '_':
	case ends(bytes.TrimRight(l, " "), " 100%"):
	case contains(l, "% ") || ends(l, "%"):
		p.keep(l)
	default:
		return false
	}
	return true
}

// handleProgress handles the results of running tests.
func (p *pytestTests) handleProgress(l []byte) bool {
	if name, word, ok := parsePytestResult(l); ok {
		p.section, p.awaitsResult = pytestProgress, false
		p.finish(l, name)
		switch word[0] {
		case 'F', 'E':
			p.problemSeen = true
			p.unshownFailures.add(l, p.testPass.keepFailure)
		case 'S':
			if begins(word, "SUBF") {
				p.unshownFailures.add(l, p.testPass.keepFailure)
			}
		}
		p.keepNoted(name, word, l)
		return true
	}
	if failed, ok := parsePytestSigns(l); ok {
		p.awaitsResult = false
		if failed {
			p.problemSeen = true
			p.unshownSigns.add(l, p.testPass.keepFailure)
		}
		return true
	}
	if isPytestID(l) {
		if p.listsTests {
			p.keep(l)
			return true
		}
		p.awaitsResult = true
		p.start(l)
		return true
	}
	if p.awaitsResult && isPytestWord(l) {
		p.awaitsResult = false
		p.runningTests = p.runningTests[:max(0, len(p.runningTests)-1)]
		if l[0] == 'F' || l[0] == 'E' {
			p.testPass.keepFailure(l)
		}
		return true
	}
	return false
}

// maxRunning limits the tests that run at once, which is the number of workers.
const maxRunning = 64

// start adds a test that began.
func (p *pytestTests) start(name []byte) {
	if len(p.runningTests) == maxRunning {
		p.runningTests = slices.Delete(p.runningTests, 0, 1)
	}
	p.runningTests = append(p.runningTests, string(bytes.TrimRight(name, " ")))
}

// finish removes a test that has a result. Without workers, a result ends all
// tests before it.
func (p *pytestTests) finish(l, name []byte) {
	if l[0] != '[' {
		p.runningTests = p.runningTests[:0]
		return
	}
	p.runningTests = slices.DeleteFunc(p.runningTests, func(test string) bool { return test == string(name) })
}

// keepNoted keeps the line of a test that was skipped for a reason, passed
// unexpectedly or was repeated.
func (p *pytestTests) keepNoted(name, word, l []byte) {
	switch string(word) {
	case "XPASS", "RERUN":
	case "SKIPPED", "XFAIL":
		if l[0] == '[' || !contains(l[len(name):], " (") {
			return
		}
	default:
		return
	}
	if p.shownSkips++; p.shownSkips <= maxNotedTests {
		p.keep(l)
	}
}

// pytestHeadPrefixes begin pytest's lines before the tests.
var pytestHeadPrefixes = newPrefixes(
	"platform ", "cachedir: ", "rootdir: ", "configfile: ", "plugins: ", "testpaths: ", "asyncio: ",
	"hypothesis profile ", "benchmark: ", "scheduling tests via ", "created: ", "bringing up nodes",
	"django: ", "Using --cov", "libraries: ",
	"metadata: ", "timeout: ", "timeout method: ", "timeout func_only: ", "anyio: ",
)

// sugarStart begins the first line of pytest-sugar.
const sugarStart = "Test session starts (platform: "

// handleTop handles the lines outside of sections.
func (p *pytestTests) handleTop(l []byte) bool {
	switch {
	case pytestHeadPrefixes.match(l):
		return p.headSeen && p.section == pytestTop
	case begins(l, sugarStart):
		p.headSeen = true
		return true
	case p.headSeen && (p.section == pytestTop || p.section == pytestProgress) && (isPytestBar(l) || p.beginBlock(l)):
		return true
	case begins(l, "collecting"), begins(l, "collected "):
		return p.handleCollected(l)
	case begins(l, "[gw") && (contains(l, " linux ") || contains(l, " darwin ") || contains(l, " win32 ") || contains(l, "Python ")):
		return true
	case begins(l, "gw0 ") && (contains(l, "/ gw") || ends(l, "]") || ends(l, " C") || ends(l, " I")),
		begins(l, "gw0 [") && contains(l, "]"):
		return true
	case ends(l, " workers [") || begins(l, "workers ["):
		return true
	case ends(l, "items]") && contains(l, " workers ["):
		return true
	case begins(l, "INTERNALERROR>"):
		if !p.failureOpen {
			p.problemSeen = true
			p.endFailure()
			p.flush()
			p.beginDetail(p.maxTraceLines)
		}
		p.detail.line(l)
		return true
	case l[0] == '!':
		if _, ok := ruledTitle(l, "!"); ok {
			p.testPass.keepFailure(l)
			return true
		}
	case l[0] == '-' && begins(l, "--------"):
		if title, ok := ruledTitle(l, "-"); ok && begins(title, "coverage: ") {
			p.leaveSection()
			p.section = pytestCoverage
			return true
		}
		if title, ok := ruledTitle(l, "-"); ok && (begins(title, "generated ") || begins(title, "live log ")) {
			p.keep(l)
			return true
		}
	case begins(l, "Name ") && contains(l, "Stmts") && contains(l, "Cover"):
		p.leaveSection()
		p.section = pytestCoverage
		return p.handleCoverage(l)
	case text.HasAnyPrefix(l, "FAIL Required test coverage", "ERROR: Coverage failure", "Coverage failure: "):
		p.testPass.keepFailure(l)
		return true
	case isPytestTotal(l):
		p.handleTotal(l)
		return true
	case p.section == pytestOther && text.HasAnyPrefix(l, "FAILED ", "ERROR ") && contains(l, "::"):
		return p.handleSummary(l)
	}
	return false
}

// handleCollected handles "collected 12 items", which matters if some were
// deselected.
func (p *pytestTests) handleCollected(l []byte) bool {
	if !p.headSeen && !contains(l, " item") && !ends(l, " ...") {
		return false
	}
	p.headSeen = true
	at := bytes.Index(l, []byte("collected "))
	if at < 0 {
		return true
	}
	if rest := l[at:]; contains(rest, " / ") || begins(rest, "collected 0 ") {
		p.problemSeen = p.problemSeen || contains(rest, " error")
		p.keep(rest)
	}
	return true
}

func (p *pytestTests) handleOther(l []byte) {
	switch {
	case p.listsTests:
		p.keep(l)
	case p.section == pytestProgress || p.section == pytestTop && p.headSeen:
		p.awaitsResult = contains(l, ".py::") || p.awaitsResult
		p.addPrinted(l)
	default:
		p.addOutside(l)
	}
}

func (p *pytestTests) end() {
	p.endFailure()
	p.unshownFailures.write(p.testPass.keepFailure)
	p.unshownSigns.write(p.testPass.keepFailure)
	p.problemSeen = p.problemSeen || p.awaitsResult || len(p.runningTests) > 0
	for _, test := range p.runningTests {
		p.keep([]byte(test))
	}
}
