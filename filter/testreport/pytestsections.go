package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

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
	p.unshownFailures.write(p.keepFailure)
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
		if p.beginCoverage(l) {
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
	const maxWarnings = 15
	switch {
	case l[0] != ' ' && !contains(l, "::") && !contains(l, ".py"):
		p.leaveSection()
		return false
	case l[0] != ' ':
		p.warningTest = append(p.warningTest[:0], l...)
	case begins(l, "  ") && len(l) > 2 && l[2] != ' ':
		if p.warnings++; p.warnings > maxWarnings {
			p.keepReplaceable(text.Omission(p.warnings - maxWarnings))
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
			p.keepFailure(l)
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
			p.keepFailure(l)
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

// beginCoverage begins the section of a coverage table if l is its title: "--- coverage: platform
// linux ---".
func (p *pytestTests) beginCoverage(l []byte) bool {
	title, ok := ruledTitle(l, "-")
	if !ok || !begins(title, "coverage: ") {
		return false
	}
	p.leaveSection()
	p.section = pytestCoverage
	return true
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
