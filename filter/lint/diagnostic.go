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
	labels    []byte // texts about marked code, see label
	pointed   bool   // labels are those of carets
	advice    []byte // the last advice, which may point into code
	suggests  bool   // the frames that follow show suggestions
	source    []byte // the last line, which may be code
	hasSource bool
	framed    bool
	shown     bool // the code of the last place came
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
	*d = diagnostic{kind: k, file: d.file[:0], pos: d.pos[:0], rule: d.rule[:0], msg: d.msg[:0], raw: d.raw[:0], first: d.first[:0], hints: d.hints[:0], notes: d.notes[:0], labels: d.labels[:0], advice: d.advice[:0], source: d.source[:0]}
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
