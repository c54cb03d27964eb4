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
	pkg    *goPackage
	others map[string]*goPackage // packages of JSON by name
	build  bool                  // "# package": messages of the compiler
	oks    int
	more   int    // omitted oks
	none   int    // packages without tests that the command named
	empty  int    // packages without tests
	first  []byte // the line of the first of them
	noted  int    // lines about skipped tests
	failed int    // tests with lines of their own
	json   goEvent
}

// goPackage is the package whose tests run.
type goPackage struct {
	text   *text.Lines // lines that may stay; nil means none
	owner  []byte      // the test that is writing
	mark   []byte      // the line that named it
	marked bool        // mark is in text or not needed
	last   []byte      // the "=== RUN" line of the last test that has not ended
	tests  map[string]*goTest
	part   []byte // JSON: a line that has not ended
}

// goTest is a test that failed or wrote something.
type goTest struct {
	state goState
	left  int // lines that may still stay
}

type goState uint8

const (
	goRuns goState = iota
	goPassed
	goFailed
)

const (
	maxTests   = 50000 // tests of a package that are distinguished
	maxOKs     = 20
	maxSkipped = 20
)

func newGoTests(p *testPass) testRunner {
	return &goTests{testPass: p, pkg: &goPackage{}}
}

func (g *goTests) shape(l []byte) bool {
	switch l[0] {
	case '{':
		if goJSON(l) {
			return g.event(l)
		}
	case '=':
		if g.marker(l) {
			return true
		}
	case '-', ' ':
		if kind, name, _ := goResult(l); kind != 0 {
			g.result(kind, name, l)
			return true
		}
	case 'o':
		if begins(l, "ok  \t") {
			g.endPackage(goPassed)
			g.ok(l)
			return true
		}
	case 'F':
		if begins(l, "FAIL\t") {
			g.endPackage(goFailed)
			g.testPass.failed(l)
			return true
		}
		if string(l) == "FAIL" {
			g.store(l)
			g.pkg.owner = g.pkg.owner[:0]
			return true
		}
	case 'P':
		if string(l) == "PASS" {
			g.pkg.owner = g.pkg.owner[:0]
			return true
		}
		if begins(l, "PASS ") && ends(l, "s)") { // gotestsum --format testname
			return true
		}
	case '?':
		if begins(l, "?   \t") {
			g.endPackage(goPassed)
			g.noTests(l)
			return true
		}
	case '\t':
		if len(l) > 1 && l[1] > ' ' && contains(l, "\tcoverage: ") {
			g.endPackage(goPassed)
			g.keep(l)
			return true
		}
	}
	return g.rareShape(l)
}

// rareShape handles the lines of a runner that are less frequent.
func (g *goTests) rareShape(l []byte) bool {
	switch l[0] {
	case ' ':
		if begins(l, " ✓ ") && ends(l, "s)") { // gotestsum --format testdox
			return true
		}
	case '#':
		if goBuild(l) {
			g.endPackage(goRuns)
			g.build = true
			g.testPass.failed(l)
			return true
		}
	case 'B':
		if begins(l, "Benchmark") {
			g.pkg.last = g.pkg.last[:0]
			g.endPackage(goRuns)
			g.keep(l)
			return true
		}
	case 'g':
		switch {
		case beginsAny(l, "go: downloading ", "go: finding ", "go: extracting "):
			return true
		case begins(l, "goos: "), begins(l, "goarch: "):
			return true
		}
	case 'f':
		if begins(l, "fuzz: elapsed: ") {
			if g.pkg.text == nil {
				g.wait(l)
			}
			return true
		}
	case 0xe2: // gotestsum
		switch {
		case begins(l, "✓  ") && ends(l, ")"), begins(l, "∅  "):
			return true
		case begins(l, "✖  "):
			g.endPackage(goFailed)
			g.testPass.failed(l)
			return true
		}
	case 'c', 't', 'e':
		if string(l) == "testing: warning: no tests to run" { // the total says so too
			return true
		}
		if beginsAny(l, "coverage: ", "testing: warning: ", "exit status ") {
			g.store(l)
			return true
		}
	}
	if g.build {
		if begins(l, "\t") || beginsWithPlace(l) || begins(l, "vet: ") || begins(l, "too many errors") {
			g.keep(l)
			return true
		}
		g.build = false
	}
	return false
}

// marker handles "=== RUN TestX" and similar lines.
func (g *goTests) marker(l []byte) bool {
	if len(l) < 11 || l[3] != ' ' {
		return false
	}
	name := bytes.TrimLeft(l[8:], " ")
	switch string(l[4:8]) {
	case "RUN ":
		g.pkg.last = append(g.pkg.last[:0], l...)
	case "CONT", "NAME":
	case "PAUS":
		g.pkg.owner = g.pkg.owner[:0]
		if p := g.pkg; begins(p.last, "=== RUN   ") && bytes.Equal(bytes.TrimLeft(p.last[8:], " "), name) {
			p.last = p.last[:0]
		}
		return true
	default:
		return false
	}
	g.build = false
	g.pkg.own(name, l)
	return true
}

// own makes a test the owner of the next lines.
func (p *goPackage) own(name, mark []byte) {
	p.owner = append(p.owner[:0], name...)
	p.mark = append(p.mark[:0], mark...)
	p.marked = false
}

// result handles "--- PASS: TestX (0.00s)" and similar lines. The lines after
// it may belong to the test too.
func (g *goTests) result(kind byte, name, l []byte) {
	p := g.pkg
	if kind != 'B' && begins(p.last, "=== RUN   ") && bytes.Equal(bytes.TrimLeft(p.last[8:], " "), name) {
		p.last = p.last[:0]
	}
	g.build = false
	switch kind {
	case 'F':
		g.bad = true
		g.test(name).state = goFailed
		p.text.Write(l)
	case 'S':
		g.test(name).state = goPassed
		if g.noted++; g.noted <= maxSkipped {
			g.store(l)
		}
	case 'B':
		g.store(l)
	default:
		if t := p.tests[testKey(name)]; t != nil && t.state != goFailed {
			t.state = goPassed
		}
	}
	p.own(name, l)
	p.marked = kind != 'P'
	if kind == 'S' && g.noted > maxSkipped {
		p.marked = false
	}
}

// test returns the record of a test, which may be new.
func (g *goTests) test(name []byte) *goTest {
	p := g.pkg
	if p.text == nil {
		p.text = text.NewLines()
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

// store keeps a line among those of the package.
func (g *goTests) store(l []byte) {
	if g.pkg.text == nil {
		g.pkg.text = text.NewLines()
	}
	g.pkg.text.Write(l)
}

// other handles the output of a test or of an unknown writer.
func (g *goTests) other(l []byte) {
	p := g.pkg
	if len(p.owner) > 0 {
		if at := bytes.Index(l, []byte("--- ")); at > 0 && ends(l, "s)") { // a result after a text without a line feed
			if kind, name, _ := goResult(l[at:]); kind == 'P' || kind == 'F' {
				if kind == 'F' {
					g.result(kind, name, l)
					return
				}
				if t := g.test(name); t.state != goFailed {
					t.state = goPassed
				}
				p.last = p.last[:0]
			}
		}
		if !p.marked {
			t := g.test(p.owner)
			if kind, _, _ := goResult(p.mark); kind == 'P' {
				if l[0] != ' ' && l[0] != '\t' { // output after a test, not of it
					p.owner = p.owner[:0]
				} else if t.state == goRuns {
					t.state = goPassed
				}
			}
			if len(p.owner) > 0 {
				p.text.Write(p.mark)
			}
			p.marked = true
		}
	}
	g.store(l)
}

func (g *goTests) blank() bool {
	g.build = false
	if g.pkg.text == nil {
		return false
	}
	g.pkg.text.Write(nil)
	return true
}

// endPackage writes the lines of the package that stay.
func (g *goTests) endPackage(state goState) {
	p := g.pkg
	if state != goPassed && len(p.last) > 0 { // it hung or crashed the others
		if t := p.tests[testKey(bytes.TrimLeft(p.last[8:], " "))]; t == nil {
			g.bad = true
			g.insertLast()
		}
	}
	if p.text != nil {
		w := goWriter{goTests: g, pkg: state}
		if p.text.Each(w.line) != nil {
			g.bad = false
			g.seen = false
		}
		w.to(nil)
		p.text.Close()
	}
	part := p.part
	*p = goPackage{owner: p.owner[:0], mark: p.mark[:0], last: p.last[:0], part: part[:0]}
	g.build = false
}

// insertLast stores the line of a test that did not end and wrote nothing.
func (g *goTests) insertLast() {
	g.test(bytes.TrimLeft(g.pkg.last[8:], " "))
	g.store(g.pkg.last)
}

// ok handles the result of a package that passed.
func (g *goTests) ok(l []byte) {
	if ends(l, "[no tests to run]") {
		if g.none++; g.none > 3 {
			if !g.waits {
				g.more = 0
			}
			g.more++
			g.wait(text.Omission(g.more))
			return
		}
		g.keep(l)
		return
	}
	if g.oks++; g.oks <= maxOKs || contains(l, "coverage: ") && g.oks <= 10*maxOKs {
		g.keep(l)
		return
	}
	if !g.waits {
		g.more = 0
	}
	g.more++
	g.wait(text.Omission(g.more))
}

// noTests handles a package without tests.
func (g *goTests) noTests(l []byte) {
	if g.empty++; g.empty == 1 {
		g.first = append(g.first, l...)
	}
}

func (g *goTests) end() {
	for _, name := range slices.Sorted(maps.Keys(g.others)) { // sorted, so that the result is always the same
		g.pkg = g.others[name]
		g.flushPart()
		g.endPackage(goRuns)
	}
	g.others = nil
	g.endPackage(goRuns)
	if g.empty > 0 && g.oks == 0 && !g.bad {
		g.keep(g.first)
		if g.empty > 1 {
			g.keep(text.Omission(g.empty - 1))
		}
	}
}
