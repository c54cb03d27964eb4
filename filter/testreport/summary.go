package testreport

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// testSummary takes out of the output of test runs what passed.
type testSummary struct {
	format string // of testFormats; empty is any
	max    int    // failures that stay with all they say
	trace  int    // lines that stay of each
}

// newTestSummary makes the strategy "test_summary": of a run of tests stay the
// failures, warnings and sums. The first max_failures failures stay with what
// they say, each up to truncate_stack_trace lines; of four times as many more
// stays what tells why and where, of the others the name and the reason. Of stack
// traces the frames of libraries go. The format is a
// test runner's, or "auto", which tells runners by their lines.
//
// What tests that passed have written stays where it is short, since whoever
// prints something likely wants to see it; of more there is the begin, the end
// and what tells of errors. What a test wrote goes where another one failed.
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
		return nil, fmt.Errorf("there is no format %q (known: auto, %s)", c.Format, strings.Join(testFormatNames(), ", "))
	}
	return testSummary{format: c.Format, max: c.MaxFailures, trace: c.Trace}, nil
}

// testRunner knows the lines of one kind of test runner.
type testRunner interface {
	// shape takes a line that is of the runner's own shape, or of a failure that
	// the runner tells of; false says that the line is neither.
	shape(l []byte) bool
	// other takes a line that nobody knows.
	other(l []byte)
	// end takes the end of the runner's lines.
	end()
}

// testFormat is a kind of test runner.
type testFormat struct {
	name   string
	begin  func(*testPass) testRunner
	claims func(l []byte) bool // a line that only this kind writes
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

// testPass is the way of one output through the strategy. Its methods besides
// Line and End are for runners, which say by them what a line is.
type testPass struct {
	testSummary
	run     strategy.Run
	out     *text.Lines
	runner  testRunner
	kind    *testFormat
	outside sink // lines that are of no test
	printed sink // lines that tests wrote which passed
	detail  sink // lines of a failure
	pending []byte
	waits   bool // pending waits to be written, or replaced
	seen    bool // something was of a runner's shape
	bad     bool // something went wrong, and it was seen what
	lossy   bool // lines went of which nobody knows what they are
	short   shortFailures
	fails   int  // failures so far
	open    bool // detail is one's
	drops   bool // of that failure stays only the reason
	again   bool // it is the result of an earlier pass
	lines   int  // taken so far
	size    int64
	named   int
}

// Bounds of what stays of lines that nobody knows.
const (
	outsideLines  = 200
	outsideTail   = 30
	printedLines  = 40
	printedTail   = 10
	mixedLines    = 2000 // where other commands wrote
	toldFailures  = 500  // failures of which more than a number is told
	briefFailures = 5    // times max_failures: those of which more than the reason stays
	briefLines    = 16   // lines that stay of the later ones of them, beside those that tell why
	notedTests    = 10   // tests that did not run, or not only once, of which is told
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

// detect gives the kind of test runner that alone writes such a line.
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

// failed keeps a line that says that something failed.
func (p *testPass) failed(l []byte) {
	p.bad = true
	p.keep(l)
}

// wait keeps a line unless another that waits takes its place before anything
// else stays.
func (p *testPass) wait(l []byte) {
	p.close()
	p.flushSinks()
	p.pending = append(p.pending[:0], l...)
	p.waits = true
}

// emit writes a line of a sink.
func (p *testPass) emit(l []byte) { p.out.Write(l) }

// flush writes what stays of the lines before.
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

// blank takes an empty line.
func (p *testPass) blank() {
	if s, ok := p.runner.(interface{ blank() bool }); !ok || !s.blank() {
		p.gap()
	}
}

// gap keeps an empty line: it is of what stands before it.
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

// loose keeps a line that is of no test, as long as there are not too many.
func (p *testPass) loose(l []byte) {
	if p.run.Exit != 0 && !p.bad {
		p.bad = text.Important(l)
	}
	p.into(&p.outside, l)
}

// prints keeps a line that a test wrote which passed, if there are few.
func (p *testPass) prints(l []byte) { p.into(&p.printed, l) }

func (p *testPass) into(s *sink, l []byte) {
	if !s.active {
		p.close()
		p.flush()
	}
	s.line(l)
}

// fail begins a failure: lines that follow with more are its.
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

// room is how many lines stay of the failure that is the n-th.
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

// limit begins lines of a failure of which n stay.
func (p *testPass) limit(n int) {
	p.open, p.drops = true, false
	p.detail.begin(p.emit, n-n/5, n/5)
}

// tell takes a line of the failure that began last. reason says that it tells
// why.
func (p *testPass) tell(l []byte, reason bool) {
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
