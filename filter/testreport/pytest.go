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
	in      pytestPart
	failing heldLines // lines that name a failed test, until other lines show it
	sums    heldLines // the last lines with signs of failures, until other lines show them
	rows    int
	skips   int
	names   int
	warns   int
	id      []byte   // the test of a warning, until written
	running []string // tests that began and have no result yet, the newest last
	begun   bool     // the head of the output was seen
	hanging bool     // a test has begun without a result
	ended   bool     // the last line of a run was seen
	instant bool     // failures are shown where they happen, among the progress
	lists   bool     // the command lists tests instead of running them
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
	return &pytestTests{testPass: p, lists: slices.ContainsFunc(strings.Fields(p.run.Command), func(word string) bool {
		return word == "--co" || word == "--collect-only" || word == "--collectonly"
	})}
}

func (p *pytestTests) shape(l []byte) bool {
	if l[0] == '=' {
		if title, ok := ruledTitle(l, "="); ok && p.section(title, l) {
			return true
		}
	}
	switch p.in {
	case pytestFailures, pytestPasses:
		return p.inBlocks(l)
	case pytestWarnings:
		return p.warning(l)
	case pytestSummary:
		if p.summary(l) {
			return true
		}
	case pytestCoverage:
		if p.coverage(l) {
			return true
		}
	}
	return p.progress(l) || p.top(l)
}

// section begins a section of the output.
func (p *pytestTests) section(title, l []byte) bool {
	text := string(title)
	switch {
	case text == "test session starts":
		p.leave()
		p.in, p.begun, p.ended, p.instant = pytestTop, true, false, false
		return true
	case text == "FAILURES", text == "ERRORS":
		p.leave()
		p.sums.drop()
		p.in, p.instant = pytestFailures, false
		p.failed(l)
	case text == "PASSES":
		p.leave()
		p.in = pytestPasses
	case text == "warnings summary", begins(title, "warnings summary"):
		p.leave()
		p.in = pytestWarnings
		p.keep(l)
	case text == "short test summary info":
		p.leave()
		p.sums.drop()
		p.in = pytestSummary
		p.keep(l)
	case text == "tests coverage":
		p.leave()
		p.in = pytestCoverage
	case pytestSum(title):
		p.sum(l)
	case p.in == pytestFailures && p.open && !contains(title, "summary") && !contains(title, "slowest") && !contains(title, " durations"):
		return false
	default:
		p.leave()
		p.in = pytestOther
		p.keep(l)
	}
	return true
}

// sum handles the last line of a run.
func (p *pytestTests) sum(l []byte) {
	p.leave()
	p.failing.write(p.testPass.failed)
	p.sums.drop()
	p.in, p.hanging, p.ended, p.running = pytestOther, false, true, nil
	p.keep(l)
	if contains(l, " failed") || contains(l, " error") || begins(bytes.Trim(l, "= "), "no tests ran") {
		p.bad = true
	}
}

// leave ends the section.
func (p *pytestTests) leave() {
	p.close()
	p.in = pytestOther
}

// inBlocks handles a line about a failed or passed test.
func (p *pytestTests) inBlocks(l []byte) bool {
	switch {
	case p.header(l):
		return true
	case p.instant && (pytestBar(l) || p.progress(l)):
		p.leave()
		p.in = pytestProgress
		return true
	case l[0] == '!':
		if _, ok := ruledTitle(l, "!"); ok {
			p.leave()
			p.failed(l)
			return true
		}
	case l[0] == '-' && begins(l, "--------"):
		if title, ok := ruledTitle(l, "-"); ok && begins(title, "coverage: ") {
			p.leave()
			p.in = pytestCoverage
			return true
		}
	case pytestSum(l):
		p.sum(l)
		return true
	}
	switch {
	case begins(l, "_ _ _ _ _"), begins(l, "[gw") && contains(l, "] ") && contains(l, " -- Python "), begins(l, "[gw") && contains(l, " Python 3"):
	case p.in == pytestPasses:
		p.prints(l)
	case !p.open:
		p.loose(l)
	default:
		p.failureLine(l, begins(l, "E "))
	}
	return true
}

// header begins the lines about one test if l is their header: "____ test_add
// ____", or the same with horizontal bars from pytest-sugar.
func (p *pytestTests) header(l []byte) bool {
	title, ok := ruledTitle(l, "_")
	if !ok {
		title, ok = ruledTitle(l, "―")
	}
	switch {
	case !ok || len(title) == 0 || ends(title, " _"):
		return false
	case p.in == pytestPasses:
		p.prints(l)
	default:
		p.instant = p.instant || p.in != pytestFailures
		p.in = pytestFailures
		p.fail(title, l)
	}
	return true
}

// warning handles a line of the warnings summary and keeps the place of each
// warning.
func (p *pytestTests) warning(l []byte) bool {
	switch {
	case begins(l, "-- Docs: "):
		p.leave()
		return true
	case pytestSum(l):
		p.sum(l)
		return true
	case l[0] == '-' && begins(l, "--------"):
		p.leave()
		p.in = pytestCoverage
		return p.coverage(l)
	}
	const most = 15
	switch {
	case l[0] != ' ' && !contains(l, "::") && !contains(l, ".py"):
		p.leave()
		return false
	case l[0] != ' ':
		p.id = append(p.id[:0], l...)
	case begins(l, "  ") && len(l) > 2 && l[2] != ' ':
		if p.warns++; p.warns > most {
			p.wait(text.Omission(p.warns - most))
			return true
		}
		if len(p.id) > 0 {
			p.keep(p.id)
			p.id = p.id[:0]
		}
		p.keep(l)
	}
	return true
}

// summary handles a line of the short summary.
func (p *pytestTests) summary(l []byte) bool {
	word, rest, _ := bytes.Cut(l, []byte(" "))
	if at := bytes.IndexAny(word, "(["); at > 0 && begins(word, "SUB") {
		word = word[:at]
	}
	switch string(word) {
	case "FAILED", "ERROR", "SUBFAIL", "SUBFAILED":
		name, _, _ := bytes.Cut(rest, []byte(" - "))
		p.failing.forget(name)
		if p.names++; p.names <= toldFailures {
			p.testPass.failed(l)
		} else {
			p.count()
		}
	case "SKIPPED", "XFAIL", "XPASS", "RERUN":
		if p.skips++; p.skips <= 10 {
			p.keep(l)
		} else {
			p.count()
		}
	case "PASSED", "SUBPASS", "SUBPASSED":
	default:
		if begins(l, "!!!!") {
			p.testPass.failed(l)
			return true
		}
		if pytestSum(l) {
			p.sum(l)
			return true
		}
		return false
	}
	return true
}

// count counts a line that is dropped because there were many.
func (p *pytestTests) count() {
	if !p.waits {
		p.rows = 0
	}
	p.rows++
	p.wait(text.Omission(p.rows))
}

// coverage handles a row of a coverage table. Fully covered files are dropped.
func (p *pytestTests) coverage(l []byte) bool {
	switch {
	case beginsAny(l, "FAIL ", "ERROR: ", "Required test coverage", "Coverage failure"):
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

// progress handles the results of running tests.
func (p *pytestTests) progress(l []byte) bool {
	if name, word, ok := pytestResult(l); ok {
		p.in, p.hanging = pytestProgress, false
		p.finish(l, name)
		switch word[0] {
		case 'F', 'E':
			p.bad = true
			p.failing.add(l, p.testPass.failed)
		case 'S':
			if begins(word, "SUBF") {
				p.failing.add(l, p.testPass.failed)
			}
		}
		p.note(name, word, l)
		return true
	}
	if failed, ok := pytestSigns(l); ok {
		p.hanging = false
		if failed {
			p.bad = true
			p.sums.add(l, p.testPass.failed)
		}
		return true
	}
	if pytestID(l) {
		if p.lists {
			p.keep(l)
			return true
		}
		p.hanging = true
		p.start(l)
		return true
	}
	if p.hanging && pytestWord(l) {
		p.hanging = false
		p.running = p.running[:max(0, len(p.running)-1)]
		if l[0] == 'F' || l[0] == 'E' {
			p.testPass.failed(l)
		}
		return true
	}
	return false
}

// maxRunning limits the tests that run at once, which is the number of workers.
const maxRunning = 64

// start adds a test that began.
func (p *pytestTests) start(name []byte) {
	if len(p.running) == maxRunning {
		p.running = slices.Delete(p.running, 0, 1)
	}
	p.running = append(p.running, string(bytes.TrimRight(name, " ")))
}

// finish removes a test that has a result. Without workers, a result ends all
// tests before it.
func (p *pytestTests) finish(l, name []byte) {
	if l[0] != '[' {
		p.running = p.running[:0]
		return
	}
	p.running = slices.DeleteFunc(p.running, func(test string) bool { return test == string(name) })
}

// note keeps the line of a test that was skipped for a reason, passed
// unexpectedly or was repeated.
func (p *pytestTests) note(name, word, l []byte) {
	switch string(word) {
	case "XPASS", "RERUN":
	case "SKIPPED", "XFAIL":
		if l[0] == '[' || !contains(l[len(name):], " (") {
			return
		}
	default:
		return
	}
	if p.skips++; p.skips <= notedTests {
		p.keep(l)
	}
}

// pytestHeads begin pytest's lines before the tests.
var pytestHeads = newPrefixes(
	"platform ", "cachedir: ", "rootdir: ", "configfile: ", "plugins: ", "testpaths: ", "asyncio: ", "hypothesis profile ", "benchmark: ", "scheduling tests via ", "created: ", "bringing up nodes", "django: ", "Using --cov", "libraries: ",
	"metadata: ", "timeout: ", "timeout method: ", "timeout func_only: ", "anyio: ",
)

// sugarStart begins the first line of pytest-sugar.
const sugarStart = "Test session starts (platform: "

// top handles the lines outside of sections.
func (p *pytestTests) top(l []byte) bool {
	switch {
	case pytestHeads.match(l):
		return p.begun && p.in == pytestTop
	case begins(l, sugarStart):
		p.begun = true
		return true
	case p.begun && (p.in == pytestTop || p.in == pytestProgress) && (pytestBar(l) || p.header(l)):
		return true
	case begins(l, "collecting"), begins(l, "collected "):
		return p.collected(l)
	case begins(l, "[gw") && (contains(l, " linux ") || contains(l, " darwin ") || contains(l, " win32 ") || contains(l, "Python ")):
		return true
	case begins(l, "gw0 ") && (contains(l, "/ gw") || ends(l, "]") || ends(l, " C") || ends(l, " I")), begins(l, "gw0 [") && contains(l, "]"):
		return true
	case ends(l, " workers [") || begins(l, "workers ["):
		return true
	case ends(l, "items]") && contains(l, " workers ["):
		return true
	case begins(l, "INTERNALERROR>"):
		if !p.open {
			p.bad = true
			p.close()
			p.flush()
			p.limit(p.trace)
		}
		p.detail.line(l)
		return true
	case l[0] == '!':
		if _, ok := ruledTitle(l, "!"); ok {
			p.testPass.failed(l)
			return true
		}
	case l[0] == '-' && begins(l, "--------"):
		if title, ok := ruledTitle(l, "-"); ok && begins(title, "coverage: ") {
			p.leave()
			p.in = pytestCoverage
			return true
		}
		if title, ok := ruledTitle(l, "-"); ok && (begins(title, "generated ") || begins(title, "live log ")) {
			p.keep(l)
			return true
		}
	case begins(l, "Name ") && contains(l, "Stmts") && contains(l, "Cover"):
		p.leave()
		p.in = pytestCoverage
		return p.coverage(l)
	case beginsAny(l, "FAIL Required test coverage", "ERROR: Coverage failure", "Coverage failure: "):
		p.testPass.failed(l)
		return true
	case pytestSum(l):
		p.sum(l)
		return true
	case p.in == pytestOther && beginsAny(l, "FAILED ", "ERROR ") && contains(l, "::"):
		return p.summary(l)
	}
	return false
}

// collected handles "collected 12 items", which matters if some were
// deselected.
func (p *pytestTests) collected(l []byte) bool {
	if !p.begun && !contains(l, " item") && !ends(l, " ...") {
		return false
	}
	p.begun = true
	at := bytes.Index(l, []byte("collected "))
	if at < 0 {
		return true
	}
	if rest := l[at:]; contains(rest, " / ") || begins(rest, "collected 0 ") {
		p.bad = p.bad || contains(rest, " error")
		p.keep(rest)
	}
	return true
}

func (p *pytestTests) other(l []byte) {
	switch {
	case p.lists:
		p.keep(l)
	case p.in == pytestProgress || p.in == pytestTop && p.begun:
		p.hanging = contains(l, ".py::") || p.hanging
		p.prints(l)
	default:
		p.loose(l)
	}
}

func (p *pytestTests) end() {
	p.close()
	p.failing.write(p.testPass.failed)
	p.sums.write(p.testPass.failed)
	p.bad = p.bad || p.hanging || len(p.running) > 0
	for _, test := range p.running {
		p.keep([]byte(test))
	}
}
