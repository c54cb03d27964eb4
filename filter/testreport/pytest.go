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

// handleProgress handles the results of running tests.
func (p *pytestTests) handleProgress(l []byte) bool {
	if name, word, ok := parsePytestResult(l); ok {
		p.section, p.awaitsResult = pytestProgress, false
		p.finish(l, name)
		switch word[0] {
		case 'F', 'E':
			p.problemSeen = true
			p.unshownFailures.add(l, p.keepFailure)
		case 'S':
			if begins(word, "SUBF") {
				p.unshownFailures.add(l, p.keepFailure)
			}
		}
		p.keepNoted(name, word, l)
		return true
	}
	if failed, ok := parsePytestSigns(l); ok {
		p.awaitsResult = false
		if failed {
			p.problemSeen = true
			p.unshownSigns.add(l, p.keepFailure)
		}
		return true
	}
	if isPytestID(l) {
		if p.listsTests || p.section == pytestOther { // a list of another run, which has no head
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
			p.keepFailure(l)
		}
		return true
	}
	return false
}

// maxRunning limits the tests that run at the same time, which is the number of workers.
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
			p.keepFailure(l)
			return true
		}
	case l[0] == '-' && begins(l, "--------"):
		if p.beginCoverage(l) {
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
		p.keepFailure(l)
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
	p.unshownFailures.write(p.keepFailure)
	p.unshownSigns.write(p.keepFailure)
	p.problemSeen = p.problemSeen || p.awaitsResult || len(p.runningTests) > 0
	for _, test := range p.runningTests {
		p.keep([]byte(test))
	}
}
