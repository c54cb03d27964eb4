package lint

import (
	"bytes"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// layout is how the lines of a diagnostic are arranged.
type layout uint8

const (
	closed          layout = iota
	oneLineLayout          // place and message on one line; code and notes may follow
	paragraphLayout        // a message, "--> place", and the lines up to a blank one
	sectionsLayout         // a heading, and all indented lines, even after blank lines
)

// diagnostic is the current diagnostic. Its buffers are reused.
type diagnostic struct {
	kind    layout
	at      position // without slices of the line
	file    []byte
	pos     []byte
	rule    []byte
	msg     []byte
	split   bool
	hidden  bool // the first lines do not name the rule
	rust    bool
	follows bool // a note whose error stayed
	muted   bool // a note of little use, and its code

	raw       []byte // all lines with their line feeds
	rawLines  int
	cut       int // lines since the last one in raw
	first     []byte
	hints     []byte
	notes     []byte
	source    []byte // the last line, which may be code
	hasSource bool
	framed    bool
	gap       bool // the last line was blank
	noteOpen  bool // notes ends in a note whose place may follow
	related   bool // its related places came
}

// Limits of a diagnostic that stays as it is: its lines, those lines if they
// are notes, and its bytes.
const (
	maxRaw      = 60
	maxRawNotes = 140
	maxRawBytes = 64 << 10
)

func (d *diagnostic) open(k layout, l []byte) {
	*d = diagnostic{kind: k, file: d.file[:0], pos: d.pos[:0], rule: d.rule[:0], msg: d.msg[:0], raw: d.raw[:0], first: d.first[:0], hints: d.hints[:0], notes: d.notes[:0], source: d.source[:0]}
	d.keep(l)
}

// keep adds a line to all lines.
func (d *diagnostic) keep(l []byte) {
	d.rawLines++
	if d.muted {
		d.cut++
		return
	}
	if len(d.raw)+len(l) > maxRawBytes || d.rawLines > maxRawNotes || d.rawLines > maxRaw && !text.Important(l) && !bytes.Contains(l, []byte("note:")) && !bytes.Contains(l, []byte("help:")) {
		d.cut++
		return
	}
	d.endCut()
	d.raw = append(append(d.raw, l...), '\n')
}

func (d *diagnostic) endCut() {
	if d.cut > 0 {
		d.raw = append(append(d.raw, text.Omission(d.cut)...), '\n')
		d.cut = 0
	}
}

func (d *diagnostic) set(p position) {
	d.file, d.pos, d.rule, d.msg = append(d.file, p.file...), append(d.pos, p.pos...), append(d.rule, p.rule...), append(d.msg, p.msg...)
	p.file, p.pos, p.rule, p.msg = nil, nil, nil, nil
	d.at = p
}

// begins handles a line that begins a diagnostic or leads to one.
func (g *grouping) begins(l []byte) bool {
	if place, ok := arrowPlace(l); ok {
		return g.beginsParagraph(l, place)
	}
	if isLeadIn(l) {
		g.leads(l)
		return true
	}
	if (l[0] == ' ' || l[0] == '\t' || l[0] >= '0' && l[0] <= '9') && g.beginsRow(l) {
		return true
	}
	g.text.inFile = false
	if bytes.HasPrefix(l, []byte("In ")) && g.beginsShell(l) {
		return true
	}
	if bytes.HasSuffix(l, []byte("━")) {
		if at := bytes.Index(l, []byte(" ━━")); at > 0 && g.beginsSections(l, l[:at]) {
			return true
		}
	}
	p, ok := g.locate(l)
	if !ok {
		if bytes.Count(p.pos, []byte(":")) > 1 && p.named() {
			g.failed = true
		}
		return false
	}
	if p.lead {
		g.leads(l)
		return true
	}
	if p.relation {
		return false
	}
	g.beginsPlace(l, p)
	return true
}

// beginsRow begins a diagnostic with a row of a table below the name of its file.
func (g *grouping) beginsRow(l []byte) bool {
	t, d := &g.text, &g.cur
	p, ok := tableRow(l)
	if !ok || !t.inFile && !isFileName(t.held) {
		return false
	}
	if !t.inFile {
		t.file = append(t.file[:0], t.held...)
		t.held = t.held[:0]
	}
	g.flushHeld()
	d.open(oneLineLayout, l)
	d.set(p)
	d.file = append(d.file, t.file...)
	d.pos = append([]byte{':'}, d.pos...)
	d.split, d.at.linter = true, true
	t.inFile = true
	d.first = append(append(append(append(d.first, d.file...), ':'), narrowBlanks(text.Unindent(l))...), '\n')
	return true
}

// beginsPlace begins a diagnostic, or a note of the error before it, with a line that
// names its place.
func (g *grouping) beginsPlace(l []byte, p position) {
	t, d := &g.text, &g.cur
	if p.sev == isNote && len(p.rule) == 0 && g.stayed { // a note of an error, even after other lines
		g.flushHeld()
		d.open(oneLineLayout, l)
		d.set(p)
		d.follows = true
		if d.muted = g.tooMany(p.file); d.muted {
			d.raw, d.cut = d.raw[:0], 1
		}
		return
	}
	if bytes.Equal(t.held, p.file) { // a heading that says less
		t.held = t.held[:0]
		g.dropped++
	}
	g.flushHeld()
	g.notes = 0
	if p.sev == isError && len(p.rule) == 0 && g.store.seenBefore(&finding{rule: []byte("notes"), msg: p.msg}) { // its notes would repeat others
		g.notes = maxNotesFull
	}
	d.open(oneLineLayout, l)
	d.set(p)
	d.first = append(append(d.first, bytes.TrimSpace(l)...), '\n')
}

// locate calls locate once for each line.
func (g *grouping) locate(l []byte) (position, bool) {
	if !g.located {
		g.place, g.placed = locate(l)
		g.located = true
	}
	return g.place, g.placed
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
		rest := l[at+2:]
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

// continues handles a line that belongs to the diagnostic before it.
func (g *grouping) continues(l []byte) bool {
	switch d := &g.cur; d.kind {
	case paragraphLayout:
		if !belongsToParagraph(l) && !(d.at.linter && bytes.HasPrefix(l, hunkRule)) {
			return false
		}
		if d.absorb(l) {
			g.dropped++
		} else {
			d.keep(l)
		}
		return true
	case sectionsLayout:
		if len(l) > 0 && l[0] != ' ' && l[0] != '\t' {
			return false
		}
		d.keep(l)
		d.section(l)
		return true
	}
	return g.continuesLine(l)
}

// hunkRule begins the line between two hunks of "ruff format".
var hunkRule = []byte("--------------------")

// lineMarks begin further lines of a diagnostic.
var lineMarks = [][]byte{[]byte("[ERROR]   "), []byte("[WARNING]   "), []byte("[error]  "), []byte("[warn]  "), []byte("[error]   "), []byte("[warn]   ")}

// continuesLine handles a line that belongs to a diagnostic of oneLineLayout.
func (g *grouping) continuesLine(l []byte) bool {
	d := &g.cur
	twice := string(d.rule) == "R0801" // pylint shows duplicate code
	if len(l) == 0 {
		return d.continuesBlank(twice)
	}
	if d.at.pretty && d.gap && isPlace(l) {
		d.related, d.gap = true, false
		d.keep(l)
		d.addNote(l)
		return true
	}
	if showsCode(l) || d.at.pretty && (d.gap || d.related) && isCodeLine(l) {
		if d.hasSource && len(d.source) > 0 && d.source[0] != ' ' && d.source[0] != '\t' { // it was code
			d.keep(d.source)
		}
		d.hasSource = false
		d.framed, d.gap = true, false
		d.keep(l)
		return true
	}
	if d.hasSource && len(d.source) > 0 && d.source[0] != ' ' && d.source[0] != '\t' {
		return false
	}
	indented := l[0] == ' ' || l[0] == '\t'
	if p, ok := g.locate(l); ok {
		return g.continuesPlace(p, l, indented)
	}
	if d.gap {
		return false
	}
	if twice && l[0] != '*' && l[0] != '-' {
		d.keep(l)
		d.gap = bytes.HasSuffix(l, []byte(" (duplicate-code)"))
		if bytes.HasPrefix(l, []byte("==")) {
			d.addNote(l)
		}
		return true
	}
	if _, ok := tableRow(l); ok && d.split {
		return false
	}
	if d.continuesMark(l) {
		return true
	}
	if d.split || d.alone() || isLeadIn(l) || isDiagnosticCount(l) || g.noise.Match(l) || g.echo.Match(l) || commandOf(l) != noCommand {
		return false
	}
	if !indented {
		if d.joins(l) {
			return true
		}
		if _, ok := arrowPlace(l); ok || d.hasSource || d.framed {
			return false
		}
	}
	d.unhold()
	d.source = append(d.source[:0], l...)
	d.hasSource = true
	if indented {
		d.keep(l)
	}
	return true
}

// continuesPlace handles a line that begins with a place. It reports false if the line
// begins another diagnostic.
func (g *grouping) continuesPlace(p position, l []byte, indented bool) bool {
	d := &g.cur
	note := p.known && p.sev == isNote && len(p.rule) == 0 && (d.compiles() || bytes.Count(p.pos, []byte(":")) > 1 || bytes.Equal(p.file, d.file) && bytes.Equal(p.pos, d.pos))
	if !note && !(p.relation && indented && d.at.pretty) {
		return false
	}
	d.unhold()
	d.gap = false
	d.muted = (d.follows || d.at.sev == isError && d.compiles()) && g.tooMany(p.file)
	d.keep(l)
	d.addNote(g.noteText(p, l))
	return true
}

// continuesBlank handles a blank line. twice reports that the diagnostic shows
// duplicate code, which may have blank lines.
func (d *diagnostic) continuesBlank(twice bool) bool {
	if twice && !d.gap {
		d.keep(nil)
		return true
	}
	if !d.at.pretty || d.gap {
		return false
	}
	d.unhold()
	d.gap = true
	d.keep(nil)
	return true
}

// continuesMark handles a line that one of lineMarks begins.
func (d *diagnostic) continuesMark(l []byte) bool {
	for _, mark := range lineMarks {
		inner, ok := bytes.CutPrefix(l, mark)
		if !ok {
			continue
		}
		d.keep(l)
		if showsCode(inner) {
			d.hasSource, d.framed = false, true
			return true
		}
		d.unhold()
		d.source, d.hasSource = append(append(d.source[:0], ' '), inner...), true
		return true
	}
	return false
}

// alone reports whether the diagnostic has only one line.
func (d *diagnostic) alone() bool {
	return len(d.pos) > 0 && d.pos[0] == '(' && len(d.rule) > 0 && !bytes.HasPrefix(d.rule, []byte("TS"))
}

// noteText returns a note without the place that it shares with its diagnostic.
func (g *grouping) noteText(p position, l []byte) []byte {
	d := &g.cur
	if bytes.Equal(p.file, d.file) && bytes.Equal(p.pos, d.pos) {
		return append([]byte("  note: "), p.msg...)
	}
	return l
}

// joins handles the end of a wrapped message with its rule.
func (d *diagnostic) joins(l []byte) bool {
	if len(d.first) == 0 || len(d.rule) > 0 || !d.at.known || d.framed || d.hasSource || len(l) == 0 || l[len(l)-1] != ']' { // the note of an error that stayed has no first line
		return false
	}
	text, rule := splitTrailingRule(l)
	if rule == nil {
		return false
	}
	d.rule = append(d.rule, rule...)
	d.first = append(append(append(d.first[:len(d.first)-1], ' '), l...), '\n')
	if len(text) > 0 {
		d.msg = append(append(d.msg, ' '), text...)
	}
	d.keep(l)
	return true
}

// unhold adds a line that turned out not to be code to the notes.
func (d *diagnostic) unhold() {
	if d.hasSource && len(d.source) > 0 && (d.source[0] == ' ' || d.source[0] == '\t') {
		d.addNote(d.source)
	}
	d.hasSource = false
}

func (d *diagnostic) addNote(l []byte) {
	in := text.Unindent(l)
	if bytes.HasPrefix(in, []byte("= help: ")) || bytes.HasPrefix(in, []byte("help: ")) {
		d.hints = append(append(append(d.hints, "  "...), bytes.TrimPrefix(in, []byte("= "))...), '\n')
		return
	}
	if len(d.rule) == 0 && d.at.pretty {
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
	n := digitRun(in)
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
	n := digitRun(in)
	return n > 0 && (n == len(in) || in[n] == ' ') || len(in) > 2 && in[0] == '.' && in[1] == '.'
}

// runeEnd returns where to cut a text to at most n bytes.
func runeEnd(l []byte, n int) int {
	if len(l) <= n {
		return len(l)
	}
	for n > 0 && !utf8.RuneStart(l[n]) {
		n--
	}
	return n
}
