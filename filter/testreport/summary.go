package testreport

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// testSummary removes passed tests from the output of test runs.
type testSummary struct {
	format        string // one of testFormats; empty means any
	maxFailures   int    // failures that stay in full
	maxTraceLines int    // lines kept of each
}

// newTestSummary makes the strategy "test_summary". Failures, warnings and
// totals of a test run stay. The first max_failures failures stay in full, each
// up to truncate_stack_trace lines. The next ones, four times as many, keep
// reason and place, and the others only name and reason. Frames of libraries in
// stack traces are dropped. The format names a test runner, or is "auto",
// which recognises runners by their lines.
//
// Short output of passed tests stays, since the user likely wants to see it.
// The first and last lines of longer output stay, and those that report
// problems. If a test failed, the output of passed tests is dropped.
func newTestSummary(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		MaxFailures int    `toml:"max_failures"`
		Trace       int    `toml:"truncate_stack_trace"`
		Format      string `toml:"format"`
	}{MaxFailures: 10, Trace: 50, Format: "auto"}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	switch {
	case c.MaxFailures < 1:
		return nil, fmt.Errorf("max_failures is %d, want 1 or more", c.MaxFailures)
	case c.Trace < 5:
		return nil, fmt.Errorf("truncate_stack_trace is %s, want 5 or more", quantity.Count(c.Trace, "line"))
	case c.Format == "auto":
		c.Format = ""
	case testFormatNamed(c.Format) == nil:
		return nil, fmt.Errorf("unknown format %q (known: auto, %s)", c.Format, strings.Join(testFormatNames(), ", "))
	}
	return testSummary{format: c.Format, maxFailures: c.MaxFailures, maxTraceLines: c.Trace}, nil
}

// testRunner recognises the lines of one kind of test runner.
type testRunner interface {
	// handle handles a line of the runner's own format, or of a failure that the
	// runner reports. It reports false for other lines.
	handle(l []byte) bool
	// handleOther handles a line that no runner recognises.
	handleOther(l []byte)
	// end handles the end of the output.
	end()
}

// testFormat is a kind of test runner.
type testFormat struct {
	name   string
	begin  func(*testPass) testRunner
	claims func(l []byte) bool // reports whether only this kind writes a line
}

var testFormats = []testFormat{
	{"cargo", newCargoTests, claimsCargo},
	{"go", newGoTests, claimsGo},
	{"pytest", newPytest, claimsPytest},
	{"unittest", newUnittest, claimsUnittest},
	{"tap", newTAP, claimsTAP},
	{"jvm", newJVMTests, claimsJVM},
	{"dotnet", newDotnetTests, claimsDotnet},
	{"native", newNativeTests, claimsNative},
	{"js", newJSTests, claimsJS},
}

func testFormatNamed(name string) *testFormat {
	for i := range testFormats {
		if testFormats[i].name == name {
			return &testFormats[i]
		}
	}
	return nil
}

func testFormatNames() (names []string) {
	for _, f := range testFormats {
		names = append(names, f.name)
	}
	return names
}

func (s testSummary) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	p := &testPass{testSummary: s, run: run, out: out}
	left := outsideHead
	if run.Mixed {
		left = mixedHead
	}
	p.outside.begin(p.writeLine, left, outsideTail)
	p.printed.begin(p.writeLine, printedHead, printedTail)
	p.detail.begin(p.writeLine, 0, 0)
	if s.format != "" {
		p.runnerFormat = testFormatNamed(s.format)
		p.runner = p.runnerFormat.begin(p)
	}
	return p
}

// testPass filters one output. Runners classify lines with its methods other
// than Line and End.
type testPass struct {
	testSummary
	run            strategy.Run
	out            *text.Lines
	runner         testRunner
	runnerFormat   *testFormat // the format of runner
	outside        lineSink    // lines outside of tests
	printed        lineSink    // output of passed tests
	detail         lineSink    // lines of a failure
	pending        []byte      // if hasPending, a line that is written unless another one replaces it
	hasPending     bool
	recognised     bool // a line had a runner's format
	problemSeen    bool // a problem was reported
	lossy          bool // unrecognised lines were dropped
	brief          briefFailures
	failureCount   int
	failureOpen    bool // the next lines belong to a failure
	reasonOnly     bool // only the reason of that failure stays, in brief
	filteredBefore bool // the input is the result of an earlier pass
	lineCount      int  // of the input
	byteCount      int64
	readErr        error // of reading stored lines, some of which are then missing
	namedFailures  int   // lines that name a failed test
}

// Limits of a summary.
const (
	outsideHead      = 200  // first lines outside of tests
	outsideTail      = 30   // last lines of each run of them
	mixedHead        = 2000 // outsideHead if other commands wrote too
	printedHead      = 40   // first lines of passed tests
	printedTail      = 10   // last lines of each run of them
	maxNamedFailures = 500  // failures that are reported with more than a number
	briefFactor      = 5    // times max_failures: failures that keep more than the reason
	maxBriefLines    = 16   // lines kept of these, besides their reasons
	maxNotedTests    = 10   // skipped or repeated tests that are reported
)

func (p *testPass) Line(l []byte) {
	p.lineCount++
	p.byteCount += int64(len(l)) + 1
	switch {
	case len(l) == 0:
		p.blank()
		return
	case text.IsNoiseCount(l):
		p.filteredBefore = true
	}
	if p.runner != nil && p.runner.handle(l) {
		p.recognised = true
		return
	}
	if p.format == "" {
		if kind := p.detect(l); kind != nil && kind != p.runnerFormat {
			if p.runner != nil {
				p.runner.end()
				p.endFailure()
			}
			p.runnerFormat, p.runner = kind, kind.begin(p)
			if p.runner.handle(l) {
				p.recognised = true
				return
			}
		}
	}
	if p.runner != nil {
		p.runner.handleOther(l)
		return
	}
	p.addOutside(l)
}

// detect returns the kind of test runner that alone writes such a line.
func (p *testPass) detect(l []byte) *testFormat {
	for i := range testFormats {
		if testFormats[i].claims(l) {
			return &testFormats[i]
		}
	}
	return nil
}

func (p *testPass) End() strategy.Confidence {
	if p.runner != nil {
		p.runner.end()
	}
	p.endFailure()
	p.flush()
	marks, omitted, err := text.Omissions(p.out)
	if p.readErr == nil {
		p.readErr = err
	}
	p.out.Write(text.NoiseCount(max(0, p.lineCount-p.out.Count()+marks-omitted)))
	switch {
	case p.readErr != nil, p.filteredBefore, !p.recognised, p.run.Exit != 0 && !p.problemSeen, p.out.Size() >= p.byteCount:
		return strategy.Fallback
	case p.lossy || p.outside.omittedAny || p.printed.omittedAny:
		return strategy.Partial
	}
	return strategy.Full
}

// each calls do with each of the stored lines.
func (p *testPass) each(stored *text.Lines, do func(line []byte)) {
	p.readErr = cmp.Or(p.readErr, stored.Each(do))
}

// keep keeps a line.
func (p *testPass) keep(l []byte) {
	p.endFailure()
	p.flush()
	p.out.Write(l)
}

// keepFailure keeps a line that reports a failure.
func (p *testPass) keepFailure(l []byte) {
	p.problemSeen = true
	p.keep(l)
}

// keepReplaceable keeps a line unless another waiting line replaces it before other lines
// are kept.
func (p *testPass) keepReplaceable(l []byte) {
	p.endFailure()
	p.flushSinks()
	p.pending = append(p.pending[:0], l...)
	p.hasPending = true
}

// writeLine writes a line of a sink.
func (p *testPass) writeLine(l []byte) { p.out.Write(l) }

// flush writes the kept lines so far.
func (p *testPass) flush() {
	p.outside.end()
	p.printed.end()
	p.detail.end()
	p.brief.write(p.out)
	if p.hasPending {
		p.hasPending = false
		p.out.Write(p.pending)
	}
}

// blank handles a blank line.
func (p *testPass) blank() {
	if s, ok := p.runner.(interface{ blank() bool }); !ok || !s.blank() {
		p.keepBlank()
	}
}

// keepBlank keeps a blank line after the line before it.
func (p *testPass) keepBlank() {
	switch {
	case p.failureOpen:
		if !p.reasonOnly {
			p.detail.line(nil)
		}
	case p.outside.open:
		p.outside.line(nil)
	case p.printed.open:
		p.printed.line(nil)
	case !p.hasPending && p.brief.count == 0:
		p.out.Write(nil)
	}
}

// addOutside keeps a line outside of tests, within the limits.
func (p *testPass) addOutside(l []byte) {
	if p.run.Exit != 0 && !p.problemSeen {
		p.problemSeen = text.Important(l)
	}
	p.addTo(&p.outside, l)
}

// addPrinted keeps a line of a passed test, within the limits.
func (p *testPass) addPrinted(l []byte) { p.addTo(&p.printed, l) }

func (p *testPass) addTo(s *lineSink, l []byte) {
	if !s.open {
		p.endFailure()
		p.flush()
	}
	s.line(l)
}

// beginFailure begins a failure, to which the next lines belong.
func (p *testPass) beginFailure(name, header []byte) {
	p.endFailure()
	p.problemSeen = true
	p.failureCount++
	p.failureOpen, p.reasonOnly = true, p.failureCount > briefFactor*p.maxFailures
	if p.reasonOnly {
		p.flushSinks()
		p.brief.begin(name)
		return
	}
	p.flush()
	if header != nil {
		p.out.Write(header)
	}
	p.beginDetail(p.failureLines(p.failureCount))
}

// failureLines returns how many lines of failure n stay.
func (p *testPass) failureLines(n int) int {
	if n > p.maxFailures {
		return min(p.maxTraceLines, maxBriefLines)
	}
	return p.maxTraceLines
}

func (p *testPass) flushSinks() {
	p.outside.end()
	p.printed.end()
	p.detail.end()
}

// beginDetail begins the lines of a failure; n of them stay.
func (p *testPass) beginDetail(n int) {
	p.failureOpen, p.reasonOnly = true, false
	p.detail.begin(p.writeLine, n-n/5, n/5)
}

// Values of the parameter reason of addFailureLine.
const isReason, notReason = true, false

// addFailureLine handles a line of the last failure. reason means that the line may state why the
// test failed.
func (p *testPass) addFailureLine(l []byte, reason bool) {
	switch {
	case !p.failureOpen:
		p.addOutside(l)
	case p.reasonOnly:
		p.brief.line(l, reason)
	default:
		p.detail.line(l)
	}
}

// endFailure ends a failure.
func (p *testPass) endFailure() {
	if !p.failureOpen {
		return
	}
	p.failureOpen = false
	if p.reasonOnly {
		p.brief.end()
	} else {
		p.detail.end()
	}
}
