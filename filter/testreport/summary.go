package testreport

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// testSummary removes passed tests from the output of test runs.
type testSummary struct {
	format string // one of testFormats; empty means any
	max    int    // failures that stay in full
	trace  int    // lines kept of each
}

// newTestSummary makes the strategy "test_summary". Failures, warnings and
// totals of a test run stay. The first max_failures failures stay in full, each
// up to truncate_stack_trace lines. The next ones, four times as many, keep
// reason and place, and the others only name and reason. Frames of libraries in
// stack traces are dropped. The format is that of a test runner, or "auto",
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
		return nil, fmt.Errorf("truncate_stack_trace is %d lines, want 5 or more", c.Trace)
	case c.Format == "auto":
		c.Format = ""
	case testFormatNamed(c.Format) == nil:
		return nil, fmt.Errorf("unknown format %q (known: auto, %s)", c.Format, strings.Join(testFormatNames(), ", "))
	}
	return testSummary{format: c.Format, max: c.MaxFailures, trace: c.Trace}, nil
}

// testRunner recognises the lines of one kind of test runner.
type testRunner interface {
	// shape handles a line of the runner's own format, or of a failure that the
	// runner reports. It reports false for other lines.
	shape(l []byte) bool
	// other handles a line that no runner recognises.
	other(l []byte)
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
	left := outsideLines
	if run.Mixed {
		left = mixedLines
	}
	p.outside.begin(p.emit, left, outsideTail)
	p.printed.begin(p.emit, printedLines, printedTail)
	p.detail.begin(p.emit, 0, 0)
	if s.format != "" {
		p.kind = testFormatNamed(s.format)
		p.runner = p.kind.begin(p)
	}
	return p
}

// testPass filters one output. Runners classify lines with its methods other
// than Line and End.
type testPass struct {
	testSummary
	run     strategy.Run
	out     *text.Lines
	runner  testRunner
	kind    *testFormat
	outside lineSink // lines outside of tests
	printed lineSink // output of passed tests
	detail  lineSink // lines of a failure
	pending []byte
	waits   bool // pending waits to be written or replaced
	seen    bool // a line had a runner's format
	bad     bool // a problem was reported
	lossy   bool // unrecognised lines were dropped
	short   shortFailures
	fails   int  // number of failures
	open    bool // detail belongs to a failure
	drops   bool // only the reason of that failure stays
	again   bool // the input is the result of an earlier pass
	lines   int  // number of lines
	size    int64
	named   int
}

// Limits on how many unrecognised lines are kept.
const (
	outsideLines  = 200
	outsideTail   = 30
	printedLines  = 40
	printedTail   = 10
	mixedLines    = 2000 // if other commands wrote too
	toldFailures  = 500  // failures that are reported with more than a number
	briefFailures = 5    // times max_failures: failures that keep more than the reason
	briefLines    = 16   // lines kept of these, besides their reasons
	notedTests    = 10   // skipped or repeated tests that are reported
)

func (p *testPass) Line(l []byte) {
	p.lines++
	p.size += int64(len(l)) + 1
	switch {
	case len(l) == 0:
		p.blank()
		return
	case text.IsNoiseCount(l):
		p.again = true
	}
	if p.runner != nil && p.runner.shape(l) {
		p.seen = true
		return
	}
	if p.format == "" {
		if kind := p.detect(l); kind != nil && kind != p.kind {
			if p.runner != nil {
				p.runner.end()
				p.close()
			}
			p.kind, p.runner = kind, kind.begin(p)
			if p.runner.shape(l) {
				p.seen = true
				return
			}
		}
	}
	if p.runner != nil {
		p.runner.other(l)
		return
	}
	p.loose(l)
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
	p.close()
	p.flush()
	p.out.Write(text.NoiseCount(max(1, p.lines-p.out.Count())))
	switch {
	case p.again, !p.seen, p.run.Exit != 0 && !p.bad, p.out.Size() >= p.size:
		return strategy.Fallback
	case p.lossy || p.outside.cut || p.printed.cut:
		return strategy.Partial
	}
	return strategy.Full
}

// keep keeps a line.
func (p *testPass) keep(l []byte) {
	p.close()
	p.flush()
	p.out.Write(l)
}

// failed keeps a line that reports a failure.
func (p *testPass) failed(l []byte) {
	p.bad = true
	p.keep(l)
}

// wait keeps a line unless another waiting line replaces it before other lines
// are kept.
func (p *testPass) wait(l []byte) {
	p.close()
	p.flushSinks()
	p.pending = append(p.pending[:0], l...)
	p.waits = true
}

// emit writes a line of a sink.
func (p *testPass) emit(l []byte) { p.out.Write(l) }

// flush writes the kept lines so far.
func (p *testPass) flush() {
	p.outside.end()
	p.printed.end()
	p.detail.end()
	p.short.write(p.out)
	if p.waits {
		p.waits = false
		p.out.Write(p.pending)
	}
}

// blank handles a blank line.
func (p *testPass) blank() {
	if s, ok := p.runner.(interface{ blank() bool }); !ok || !s.blank() {
		p.gap()
	}
}

// gap keeps a blank line after the line before it.
func (p *testPass) gap() {
	switch {
	case p.open:
		if !p.drops {
			p.detail.line(nil)
		}
	case p.outside.active:
		p.outside.line(nil)
	case p.printed.active:
		p.printed.line(nil)
	case !p.waits && p.short.n == 0:
		p.out.Write(nil)
	}
}

// loose keeps a line outside of tests, within the limits.
func (p *testPass) loose(l []byte) {
	if p.run.Exit != 0 && !p.bad {
		p.bad = text.Important(l)
	}
	p.into(&p.outside, l)
}

// prints keeps a line of a passed test, within the limits.
func (p *testPass) prints(l []byte) { p.into(&p.printed, l) }

func (p *testPass) into(s *lineSink, l []byte) {
	if !s.active {
		p.close()
		p.flush()
	}
	s.line(l)
}

// fail begins a failure, to which the next lines belong.
func (p *testPass) fail(name, header []byte) {
	p.close()
	p.bad = true
	p.fails++
	p.open, p.drops = true, p.fails > briefFailures*p.max
	if p.drops {
		p.flushSinks()
		p.short.begin(name)
		return
	}
	p.flush()
	if header != nil {
		p.out.Write(header)
	}
	p.limit(p.room(p.fails))
}

// room returns how many lines of failure n stay.
func (p *testPass) room(n int) int {
	if n > p.max {
		return min(p.trace, briefLines)
	}
	return p.trace
}

func (p *testPass) flushSinks() {
	p.outside.end()
	p.printed.end()
	p.detail.end()
}

// limit begins the lines of a failure; n of them stay.
func (p *testPass) limit(n int) {
	p.open, p.drops = true, false
	p.detail.begin(p.emit, n-n/5, n/5)
}

// failureLine handles a line of the last failure. reason marks the line that says why.
func (p *testPass) failureLine(l []byte, reason bool) {
	switch {
	case !p.open:
		p.loose(l)
	case p.drops:
		p.short.line(l, reason)
	default:
		p.detail.line(l)
	}
}

// close ends a failure.
func (p *testPass) close() {
	if !p.open {
		return
	}
	p.open = false
	if p.drops {
		p.short.end()
	} else {
		p.detail.end()
	}
}
