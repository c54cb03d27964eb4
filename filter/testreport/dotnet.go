package testreport

import (
	"bytes"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// dotnetTests recognises dotnet test.
type dotnetTests struct {
	*testPass
	inDetails       bool           // within the lines of a failed test
	skippedLine     []byte         // the line of xUnit.net about a skipped test, whose reason may follow
	notedSkips      int            // such lines that stayed
	early           []earlyFailure // failures that dotnet has not shown yet
	failing         bool           // the next lines of xUnit.net belong to the last of early
	seenDiagnostics map[string]bool
}

// earlyFailure is a failed test as xUnit.net reports it when it fails. dotnet
// shows it again, unless it is stopped before.
type earlyFailure struct {
	name  string
	lines [][]byte
}

// maxEarly limits the early failures and the lines of each.
const maxEarly = 50

func newDotnetTests(p *testPass) testRunner {
	return &dotnetTests{testPass: p, seenDiagnostics: map[string]bool{}}
}

func claimsDotnet(l []byte) bool {
	return text.HasAnyPrefix(
		l, "  Determining projects to restore", "Test run for ", "Microsoft (R) Test Execution",
		"Passed!  - Failed:", "Failed!  - Failed:", "Starting test execution, please wait", "VSTest version ",
		"[xUnit.net ",
	)
}

var dotnetNoise = newPrefixes(
	"Determining projects to restore", "All projects are up-to-date for restore", "Restored ",
	"Test run for ", "Microsoft (R) Test Execution", "Copyright (c) Microsoft", "Copyright (C) Microsoft",
	"Starting test execution", "A total of ", "VSTest version ", "Build started ", "Restore complete",
	"NUnit Adapter", "Running all tests in", "NUnit3TestExecutor", "Test Parallelization enabled",
	"MSBuild version ",
)

func (d *dotnetTests) handle(l []byte) bool {
	inner := bytes.TrimLeft(l, " ")
	indent := len(l) - len(inner)
	switch {
	case indent == 2 && (begins(inner, "Passed ") || begins(inner, "Skipped ") && ends(inner, "]")):
		d.leaveDetails()
		return true
	case indent == 2 && begins(inner, "Failed ") && ends(inner, "]"):
		d.shown(inner[len("Failed "):])
		d.beginFailure(inner[len("Failed "):], l)
		d.inDetails = true
		return true
	case text.HasAnyPrefix(
		l, "Passed!  - ", "Failed!  - ", "Skipped! - ", "Test Run ", "Total tests: ", "Test summary: ",
		"Build FAILED", "Build failed",
	) || indent > 0 && text.HasAnyPrefix(inner, "Passed: ", "Failed: ", "Skipped: ", "Total: ") && !d.inDetails:
		d.leaveDetails()
		if contains(l, "ailed") {
			d.problemSeen = true
		}
		d.keep(l)
		return true
	case begins(l, "[xUnit.net "):
		d.handleXUnit(l)
		return true
	case (indent == 0 || indent == 2) && dotnetNoise.match(inner):
		d.leaveDetails()
		return true
	case indent == 2 && contains(inner, " -> ") && (ends(inner, ".dll") || ends(inner, ".exe")):
		return true
	case d.inDetails && indent > 0:
		d.addFailureLine(l, !begins(inner, "Error Message:"))
		return true
	case contains(l, ": warning ") || contains(l, ": error "):
		d.leaveDetails()
		id := testKey(inner)
		if d.seenDiagnostics[id] {
			return true
		}
		if len(d.seenDiagnostics) < 1000 {
			d.seenDiagnostics[id] = true
		}
		if contains(l, ": error ") {
			d.problemSeen = true
		}
		d.keep(l)
		return true
	}
	if d.inDetails && d.failureOpen {
		d.addFailureLine(l, isReason)
		return true
	}
	return false
}

// shown forgets the early report of a failed test.
func (d *dotnetTests) shown(test []byte) {
	d.early = slices.DeleteFunc(d.early, func(f earlyFailure) bool { return begins(test, f.name+" [") })
}

// handleXUnit handles a line of xUnit.net's runner. Failed tests come again, but not the
// reasons of skipped ones and the failures of the runner itself.
func (d *dotnetTests) handleXUnit(l []byte) {
	_, rest, _ := bytes.Cut(l, []byte("]"))
	inner := bytes.TrimLeft(rest, " ")
	runner := len(rest)-len(inner) <= maxRunnerIndent
	reason := len(d.skippedLine) > 0 && !runner && !ends(inner, "]") && d.notedSkips < maxNotedTests
	if reason {
		d.notedSkips++
		d.keep(d.skippedLine)
		d.keep(l)
	}
	d.skippedLine = d.skippedLine[:0]
	failing := d.failing && !runner
	d.failing = false
	switch {
	case ends(inner, "[FAIL]"):
		d.problemSeen = true
		if d.failing = len(d.early) < maxEarly; d.failing {
			d.early = append(d.early, earlyFailure{string(bytes.TrimSuffix(inner, []byte(" [FAIL]"))), [][]byte{bytes.Clone(l)}})
		}
	case ends(inner, "[SKIP]"):
		d.skippedLine = append(d.skippedLine, l...)
	case failing:
		last := &d.early[len(d.early)-1]
		if d.failing = len(last.lines) < maxEarly; d.failing {
			last.lines = append(last.lines, bytes.Clone(l))
		}
	case runner && !reason && text.Important(inner):
		d.problemSeen = true
		d.keep(l)
	}
}

// maxRunnerIndent is how far xUnit.net indents lines about its own work.
const maxRunnerIndent = 3

func (d *dotnetTests) leaveDetails() {
	d.endFailure()
	d.inDetails = false
}

func (d *dotnetTests) handleOther(l []byte) { d.addOutside(l) }

func (d *dotnetTests) end() {
	d.leaveDetails()
	for _, f := range d.early {
		d.beginFailure([]byte(f.name), f.lines[0])
		for _, l := range f.lines[1:] {
			d.addFailureLine(l, isReason)
		}
		d.leaveDetails()
	}
}
