package testreport

import (
	"bytes"
	"maps"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// goTests recognises go test as text, verbose or not, and as JSON. The output
// of a package's tests waits until their results are known.
type goTests struct {
	*testPass
	pkg             *goPackage            // the package of the current line
	packages        map[string]*goPackage // packages of JSON by name
	inBuild         bool                  // "# package": messages of the compiler
	passedPackages  int
	omittedPackages int    // packages in the pending mark of omitted lines
	namedEmpty      int    // packages in which the command selects no tests
	emptyPackages   int    // packages without test files
	firstEmpty      []byte // the line of the first of them
	skippedTests    int    // lines about skipped tests
	failedTests     int    // failed tests that wrote lines
	current         goEvent
}

// goPackage is the package whose tests run.
type goPackage struct {
	output       *text.Lines        // lines that may stay; nil means none
	currentTest  []byte             // the test that is writing
	testLine     []byte             // the line that named it
	testLineDone bool               // testLine is in output or not needed
	lastRun      []byte             // the "=== RUN" line of the last test that has not ended
	tests        map[string]*goTest // by testKey
	partialLine  []byte             // JSON: a line that has not ended
}

// goTest is a test that failed or wrote something.
type goTest struct {
	state     goState
	linesLeft int // lines that may still stay; 0 means not set, -1 means none
}

type goState uint8

const (
	goRunning goState = iota
	goPassed
	goSkipped
	goFailed
)

const (
	maxTests   = 50000 // tests of a package that are distinguished
	maxOKs     = 20    // lines about passed packages
	maxSkipped = 20    // lines about skipped tests
)

func newGoTests(p *testPass) testRunner {
	return &goTests{testPass: p, pkg: &goPackage{}}
}

func (g *goTests) handle(l []byte) bool {
	switch l[0] {
	case '{':
		if isGoJSON(l) {
			return g.handleEvent(l)
		}
	case '=':
		if g.handleMarker(l) {
			return true
		}
	case '-', ' ':
		if kind, name := parseGoResult(l); kind != 0 {
			g.handleResult(kind, name, l)
			return true
		}
	case 'o':
		if begins(l, "ok  \t") {
			g.endPackage(goPassed)
			g.handlePassedPackage(l)
			return true
		}
	case 'F':
		if begins(l, "FAIL\t") {
			g.endPackage(goFailed)
			g.keepFailure(l)
			return true
		}
		if string(l) == "FAIL" {
			g.storeLine(l)
			g.pkg.currentTest = g.pkg.currentTest[:0]
			return true
		}
	case 'P':
		if string(l) == "PASS" {
			g.pkg.currentTest = g.pkg.currentTest[:0]
			return true
		}
		if begins(l, "PASS ") && ends(l, "s)") { // gotestsum --format testname
			return true
		}
	case '?':
		if begins(l, "?   \t") {
			g.endPackage(goPassed)
			g.handleEmptyPackage(l)
			return true
		}
	case '\t':
		if len(l) > 1 && l[1] > ' ' && contains(l, "\tcoverage: ") {
			g.endPackage(goPassed)
			g.keep(l)
			return true
		}
	}
	return g.handleRare(l)
}

// handleRare handles the lines of a runner that are less frequent.
func (g *goTests) handleRare(l []byte) bool {
	switch l[0] {
	case '#':
		if isGoBuild(l) {
			g.endPackage(goRunning)
			g.inBuild = true
			g.keepFailure(l)
			return true
		}
	case 'B':
		if begins(l, "Benchmark") {
			g.pkg.lastRun = g.pkg.lastRun[:0]
			g.endPackage(goRunning)
			g.keep(l)
			return true
		}
	case 'g':
		switch {
		case text.HasAnyPrefix(l, "go: downloading ", "go: finding ", "go: extracting "):
			return true
		case begins(l, "goos: "), begins(l, "goarch: "):
			return true
		}
	case 'f':
		if begins(l, "fuzz: elapsed: ") {
			if g.pkg.output == nil {
				g.keepReplaceable(l)
			}
			return true
		}
	case ' ', 0xe2:
		if g.handleGotestsum(l) {
			return true
		}
	case 'c', 't', 'e':
		if string(l) == "testing: warning: no tests to run" { // the total says so too
			return true
		}
		if text.HasAnyPrefix(l, "coverage: ", "testing: warning: ", "exit status ") {
			g.storeLine(l)
			return true
		}
	}
	if g.inBuild {
		if begins(l, "\t") || beginsWithPlace(l) || begins(l, "vet: ") || begins(l, "too many errors") {
			g.keep(l)
			return true
		}
		g.inBuild = false
	}
	return false
}

// handleGotestsum handles the lines of gotestsum that begin with a sign.
func (g *goTests) handleGotestsum(l []byte) bool {
	switch {
	case begins(l, " ✓ ") && ends(l, "s)"): // --format testdox
	case begins(l, "✓  ") && ends(l, ")"), begins(l, "∅  "):
	case begins(l, "✖  "):
		g.endPackage(goFailed)
		g.keepFailure(l)
	default:
		return false
	}
	return true
}

// handleMarker handles "=== RUN TestX" and similar lines.
func (g *goTests) handleMarker(l []byte) bool {
	if len(l) < 11 || l[3] != ' ' {
		return false
	}
	name := bytes.TrimLeft(l[8:], " ")
	switch string(l[4:8]) {
	case "RUN ":
		g.pkg.lastRun = append(g.pkg.lastRun[:0], l...)
	case "CONT", "NAME":
	case "PAUS":
		g.pkg.currentTest = g.pkg.currentTest[:0]
		if p := g.pkg; begins(p.lastRun, "=== RUN   ") && bytes.Equal(bytes.TrimLeft(p.lastRun[8:], " "), name) {
			p.lastRun = p.lastRun[:0]
		}
		return true
	default:
		return false
	}
	g.inBuild = false
	g.pkg.setCurrentTest(name, l)
	return true
}

// setCurrentTest makes a test the owner of the next lines.
func (p *goPackage) setCurrentTest(name, mark []byte) {
	p.currentTest = append(p.currentTest[:0], name...)
	p.testLine = append(p.testLine[:0], mark...)
	p.testLineDone = false
}

// handleResult handles "--- PASS: TestX (0.00s)" and similar lines. The lines after
// it may belong to the test too.
func (g *goTests) handleResult(kind byte, name, l []byte) {
	p := g.pkg
	if kind != 'B' && begins(p.lastRun, "=== RUN   ") && bytes.Equal(bytes.TrimLeft(p.lastRun[8:], " "), name) {
		p.lastRun = p.lastRun[:0]
	}
	g.inBuild = false
	switch kind {
	case 'F':
		g.problemSeen = true
		g.testNamed(name).state = goFailed
		p.output.Write(l)
	case 'S':
		g.testNamed(name).state = goSkipped
		if g.skippedTests++; g.skippedTests <= maxSkipped {
			g.storeLine(l)
		}
	case 'B':
		g.storeLine(l)
	default:
		if t := p.tests[testKey(name)]; t != nil && t.state != goFailed {
			t.state = goPassed
		}
	}
	p.setCurrentTest(name, l)
	p.testLineDone = kind != 'P'
	if kind == 'S' && g.skippedTests > maxSkipped {
		p.testLineDone = false
	}
}

// testNamed returns the record of a test, which may be new.
func (g *goTests) testNamed(name []byte) *goTest {
	p := g.pkg
	if p.output == nil {
		p.output = text.NewLines()
	}
	if p.tests == nil {
		p.tests = map[string]*goTest{}
	}
	t := p.tests[testKey(name)]
	if t == nil {
		t = &goTest{}
		if len(p.tests) < maxTests {
			p.tests[testKey(name)] = t
		}
	}
	return t
}

// storeLine appends a line to the package's output.
func (g *goTests) storeLine(l []byte) {
	if g.pkg.output == nil {
		g.pkg.output = text.NewLines()
	}
	g.pkg.output.Write(l)
}

// handleOther handles the output of a test or of an unknown writer.
func (g *goTests) handleOther(l []byte) {
	p := g.pkg
	if len(p.currentTest) > 0 {
		switch kind, name := resultAtEnd(l); kind {
		case 'F':
			g.handleResult(kind, name, l)
			return
		case 'P':
			if t := g.testNamed(name); t.state != goFailed {
				t.state = goPassed
			}
			p.lastRun = p.lastRun[:0]
		}
		if !p.testLineDone {
			g.endTestLine(l)
		}
	}
	g.storeLine(l)
}

// resultAtEnd parses a result that follows a text without a line feed. Kind is 0 if there is no
// result.
func resultAtEnd(l []byte) (kind byte, name []byte) {
	at := bytes.Index(l, []byte("--- "))
	if at <= 0 || !ends(l, "s)") {
		return 0, nil
	}
	return parseGoResult(l[at:])
}

// endTestLine handles the line that named the current test, before its first line of output.
func (g *goTests) endTestLine(output []byte) {
	p := g.pkg
	t := g.testNamed(p.currentTest)
	if kind, _ := parseGoResult(p.testLine); kind == 'P' {
		if output[0] != ' ' && output[0] != '\t' { // output after a test, not of it
			p.currentTest = p.currentTest[:0]
		} else if t.state == goRunning {
			t.state = goPassed
		}
	}
	if len(p.currentTest) > 0 {
		p.output.Write(p.testLine)
	}
	p.testLineDone = true
}

func (g *goTests) blank() bool {
	g.inBuild = false
	if g.pkg.output == nil {
		return false
	}
	g.pkg.output.Write(nil)
	return true
}

// endPackage writes the lines of the package that stay.
func (g *goTests) endPackage(state goState) {
	p := g.pkg
	if state != goPassed && len(p.lastRun) > 0 { // it hung or crashed the others
		if t := p.tests[testKey(bytes.TrimLeft(p.lastRun[8:], " "))]; t == nil {
			g.problemSeen = true
			g.storeLastRun()
		}
	}
	if p.output != nil {
		w := goWriter{goTests: g, state: state}
		g.each(p.output, w.line)
		w.switchTest(nil)
		p.output.Close()
	}
	part := p.partialLine
	*p = goPackage{currentTest: p.currentTest[:0], testLine: p.testLine[:0], lastRun: p.lastRun[:0], partialLine: part[:0]}
	g.inBuild = false
}

// storeLastRun stores the line of a test that did not end and wrote nothing.
func (g *goTests) storeLastRun() {
	g.testNamed(bytes.TrimLeft(g.pkg.lastRun[8:], " "))
	g.storeLine(g.pkg.lastRun)
}

// handlePassedPackage handles the result of a package that passed.
func (g *goTests) handlePassedPackage(l []byte) {
	if ends(l, "[no tests to run]") {
		if g.namedEmpty++; g.namedEmpty > 3 {
			if !g.hasPending {
				g.omittedPackages = 0
			}
			g.omittedPackages++
			g.keepReplaceable(text.Omission(g.omittedPackages))
			return
		}
		g.keep(l)
		return
	}
	if g.passedPackages++; g.passedPackages <= maxOKs || contains(l, "coverage: ") && g.passedPackages <= 10*maxOKs {
		g.keep(l)
		return
	}
	if !g.hasPending {
		g.omittedPackages = 0
	}
	g.omittedPackages++
	g.keepReplaceable(text.Omission(g.omittedPackages))
}

// handleEmptyPackage handles a package without tests.
func (g *goTests) handleEmptyPackage(l []byte) {
	if g.emptyPackages++; g.emptyPackages == 1 {
		g.firstEmpty = append(g.firstEmpty, l...)
	}
}

func (g *goTests) end() {
	for _, name := range slices.Sorted(maps.Keys(g.packages)) { // sorted, so that the result is always the same
		g.pkg = g.packages[name]
		g.flushPartialLine()
		g.endPackage(goRunning)
	}
	g.packages = nil
	g.endPackage(goRunning)
	if g.emptyPackages > 0 && g.passedPackages == 0 && !g.problemSeen {
		g.keep(g.firstEmpty)
		if g.emptyPackages > 1 {
			g.keep(text.Omission(g.emptyPackages - 1))
		}
	}
}
