package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// layout is the arrangement of a diagnostic's lines.
type layout uint8

const (
	closed          layout = iota // no diagnostic is open
	oneLineLayout                 // place and message on one line; code and notes may follow
	paragraphLayout               // a message, "--> place", and the lines up to a blank one
	sectionsLayout                // a heading, and all indented lines, even after blank lines
)

// diagnostic is the current diagnostic. Its buffers are reused.
type diagnostic struct {
	layout       layout
	parsed       position // its slices are the next four fields
	file         []byte
	pos          []byte
	rule         []byte
	msg          []byte
	fileAbove    bool // a line above names the file
	ruleNotShown bool // firstLines do not name the rule
	fromRust     bool // from a tool of Rust, whose lints have names
	isNote       bool // a note of an error that stays in the body
	muted        bool // within a note of little use, or its code

	lines         []byte // the lines that stay in the body, with line feeds
	lineCount     int    // also those that are cut
	cutLines      int    // omitted since the last one in lines
	firstLines    []byte // see finding
	hints         []byte // see finding
	notes         []byte // see finding
	labels        []byte // labels of marked code, see parseLabel
	caretLabels   bool   // labels belong to carets
	advice        []byte // the last advice, which may point into code
	inSuggestion  bool   // the frames that follow show suggestions
	lastLine      []byte // if holdsLastLine, the last line, which may be code
	holdsLastLine bool
	hasFrame      bool // its code is shown
	placeHasCode  bool // the code of its last place came
	afterBlank    bool // the last line was blank
	noteOpen      bool // notes ends in a note whose place may follow
	inRelated     bool // a related place came
}

// Limits of a diagnostic that stays unchanged.
const (
	maxLines     = 60       // lines of a diagnostic that stay; after them only notes and problems do
	maxNoteLines = 140      // lines in all
	maxLineBytes = 64 << 10 // bytes in all
)

func (d *diagnostic) begin(k layout, l []byte) {
	*d = diagnostic{
		layout: k, file: d.file[:0], pos: d.pos[:0], rule: d.rule[:0], msg: d.msg[:0], lines: d.lines[:0],
		firstLines: d.firstLines[:0], hints: d.hints[:0], notes: d.notes[:0], labels: d.labels[:0],
		advice: d.advice[:0], lastLine: d.lastLine[:0],
	}
	d.addLine(l)
}

// addLine adds a line to lines, or counts it as cut.
func (d *diagnostic) addLine(l []byte) {
	d.lineCount++
	if d.muted {
		d.cutLines++
		return
	}
	if len(d.lines)+len(l) > maxLineBytes ||
		d.lineCount > maxNoteLines ||
		d.lineCount > maxLines && !text.Important(l) && !bytes.Contains(l, []byte("note:")) && !bytes.Contains(l, []byte("help:")) {
		d.cutLines++
		return
	}
	d.writeCut()
	d.lines = append(append(d.lines, l...), '\n')
}

// writeCut adds the mark of the lines cut so far.
func (d *diagnostic) writeCut() {
	if d.cutLines > 0 {
		d.lines = append(append(d.lines, text.Omission(d.cutLines)...), '\n')
		d.cutLines = 0
	}
}

func (d *diagnostic) setPosition(p position) {
	d.file, d.pos, d.rule, d.msg = append(d.file, p.file...), append(d.pos, p.pos...), append(d.rule, p.rule...), append(d.msg, p.msg...)
	p.file, p.pos, p.rule, p.msg = nil, nil, nil, nil
	d.parsed = p
}

// beginDiagnostic handles a line that begins a diagnostic or leads to one.
func (g *groupingPass) beginDiagnostic(l []byte) bool {
	if place, ok := arrowPlace(l); ok {
		return g.beginParagraph(l, place)
	}
	if isLeadIn(l) {
		g.addLeadIn(l)
		return true
	}
	if (l[0] == ' ' || l[0] == '\t' || l[0] >= '0' && l[0] <= '9') && g.beginRow(l) {
		return true
	}
	g.held.inFile = false
	if bytes.HasPrefix(l, []byte("In ")) && g.beginShell(l) {
		return true
	}
	if bytes.HasSuffix(l, []byte("━")) {
		if at := bytes.Index(l, []byte(" ━━")); at > 0 && g.beginSections(l, l[:at]) {
			return true
		}
	}
	p, ok := g.locate(l)
	if !ok {
		if bytes.Count(p.pos, []byte(":")) > 1 && p.hasFileName() {
			g.failureShown = true
		}
		return false
	}
	if p.leadsIn {
		g.addLeadIn(l)
		return true
	}
	if p.isRelated {
		return false
	}
	g.beginPlace(l, p)
	return true
}

// beginRow begins a diagnostic with a row of a table below the name of its file.
func (g *groupingPass) beginRow(l []byte) bool {
	t, d := &g.held, &g.current
	p, ok := tableRow(l)
	if ok && !p.hasSeverity && bytes.HasSuffix(t.lastLine, []byte(":")) { // ruff's
		t.lastLine = t.lastLine[:len(t.lastLine)-1]
		if !isFileName(t.lastLine) {
			t.lastLine = t.lastLine[:len(t.lastLine)+1]
		}
	}
	if !ok || !t.inFile && !isFileName(t.lastLine) {
		return false
	}
	if !t.inFile {
		t.fileName = append(t.fileName[:0], t.lastLine...)
		t.lastLine = t.lastLine[:0]
	}
	g.flushLastLine()
	d.begin(oneLineLayout, l)
	d.setPosition(p)
	d.file = append(d.file, t.fileName...)
	d.pos = append([]byte{':'}, d.pos...)
	d.fileAbove, d.parsed.fromLinter = true, true
	t.inFile = true
	d.firstLines = append(append(append(append(d.firstLines, d.file...), ':'), narrowBlanks(text.Unindent(l))...), '\n')
	return true
}

// beginPlace begins a diagnostic, or a note of the error before it, with a line that
// names its place.
func (g *groupingPass) beginPlace(l []byte, p position) {
	t, d := &g.held, &g.current
	if p.sev == isNote && len(p.rule) == 0 && g.lastInBody { // a note of an error, even after other lines
		g.flushLastLine()
		d.begin(oneLineLayout, l)
		d.setPosition(p)
		d.isNote = true
		if d.muted = g.notes.isSurplus(p); d.muted {
			d.lines, d.cutLines = d.lines[:0], 1
		}
		return
	}
	if bytes.Equal(t.lastLine, p.file) { // a heading that says less
		t.lastLine = t.lastLine[:0]
		g.dropped++
	}
	g.flushLastLine()
	g.notes.reset()
	// its notes would repeat others
	if p.sev == isError && len(p.rule) == 0 && g.store.seenBefore(&finding{rule: []byte("notes"), msg: p.msg}) {
		g.notes.count = maxNotesFull
	}
	d.begin(oneLineLayout, l)
	d.setPosition(p)
	d.firstLines = append(append(d.firstLines, bytes.TrimSpace(l)...), '\n')
}

// locate calls locate once for each line.
func (g *groupingPass) locate(l []byte) (position, bool) {
	if !g.lookedUp {
		g.place, g.hasPlace = locate(l)
		g.lookedUp = true
	}
	return g.place, g.hasPlace
}

// isLeadIn reports whether a line names the source of the next diagnostics.
func isLeadIn(l []byte) bool {
	switch {
	case bytes.HasPrefix(l, []byte("In file included from ")), bytes.HasPrefix(l, []byte("                 from ")):
		return true
	case l[len(l)-1] == ':':
		at := bytes.Index(l, []byte(": "))
		if at <= 0 || bytes.IndexByte(l[:at], ' ') >= 0 {
			return false
		}
		rest := bytes.TrimPrefix(l[at+2:], []byte("note: ")) // mypy
		return bytes.HasPrefix(rest, []byte("In ")) || bytes.HasPrefix(rest, []byte("At "))
	}
	return false
}

// isFileName reports whether a whole line can be the name of a file.
func isFileName(l []byte) bool {
	if len(l) < 3 || l[0] == ' ' || l[0] == '\t' || l[len(l)-1] == ':' || len(l) > maxFileName {
		return false
	}
	rooted := l[0] == '/' || l[1] == ':' && l[2] == '\\' || l[0] == '.' && (l[1] == '/' || l[1] == '\\')
	return rooted || bytes.IndexByte(l, ' ') < 0 && bytes.ContainsAny(l, "./\\")
}

// narrowBlanks reduces runs of blanks to two.
func narrowBlanks(l []byte) []byte {
	out := make([]byte, 0, len(l))
	for i, b := range l {
		if b == ' ' && i > 1 && l[i-1] == ' ' && l[i-2] == ' ' {
			continue
		}
		out = append(out, b)
	}
	return out
}

// holdsUnindented reports whether lastLine is held and not indented.
func (d *diagnostic) holdsUnindented() bool {
	return d.holdsLastLine && len(d.lastLine) > 0 && d.lastLine[0] != ' ' && d.lastLine[0] != '\t'
}

// releaseLastLine adds a held line to the notes if it is indented, since it turned
// out not to be code.
func (d *diagnostic) releaseLastLine() {
	if d.holdsLastLine && len(d.lastLine) > 0 && (d.lastLine[0] == ' ' || d.lastLine[0] == '\t') {
		d.addNote(d.lastLine)
	}
	d.holdsLastLine = false
}

func (d *diagnostic) addNote(l []byte) {
	in := text.Unindent(l)
	if bytes.HasPrefix(in, []byte("= help: ")) || bytes.HasPrefix(in, []byte("help: ")) {
		d.hints = append(append(append(d.hints, "  "...), bytes.TrimPrefix(in, []byte("= "))...), '\n')
		return
	}
	if len(d.rule) == 0 && d.parsed.pretty {
		if _, rule := splitTrailingRule(l); bytes.HasPrefix(rule, []byte("report")) {
			d.rule = append(d.rule, rule...)
		}
	}
	d.notes = append(append(append(d.notes, "  "...), bytes.TrimPrefix(in, []byte("= "))...), '\n')
}

// showsCode reports whether a line shows code or points into it.
func showsCode(l []byte) bool {
	in := text.Unindent(l)
	if len(in) == 0 {
		return false
	}
	if in[0] == '>' && len(in) > 1 && in[1] == ' ' {
		in = text.Unindent(in[1:])
	}
	n := text.DigitsEnd(in, 0)
	rest := text.Unindent(in[n:])
	if bytes.HasPrefix(rest, []byte("| ")) || len(rest) == 1 && rest[0] == '|' || bytes.HasPrefix(rest, []byte("│")) {
		return true
	}
	points := false
	for _, b := range in {
		switch b {
		case '^', '~':
			points = true
		case ' ', '\t', '-', '|', '.', '+':
		default:
			return false
		}
	}
	return points
}

// isPlace reports whether an indented line is only a place in a file.
func isPlace(l []byte) bool {
	in := text.Unindent(l)
	if len(in) == len(l) || bytes.IndexByte(in, ' ') >= 0 {
		return false
	}
	for at := 2; at < len(in); at++ {
		if in[at] == ':' {
			if n, _ := positionAt(in[at:]); n == len(in)-at {
				return bytes.Count(in[at:], []byte(":")) > 1
			}
		}
	}
	return false
}

// isCodeLine reports whether a line is "12 code".
func isCodeLine(l []byte) bool {
	in := text.Unindent(l)
	n := text.DigitsEnd(in, 0)
	return n > 0 && (n == len(in) || in[n] == ' ') || len(in) > 2 && in[0] == '.' && in[1] == '.'
}
