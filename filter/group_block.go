package filter

import (
	"bytes"
	"unicode/utf8"
)

// kind is how the lines of a diagnostic hang together.
type kind uint8

const (
	closed    kind = iota
	oneLine        // place and message in one line; code and notes may follow
	paragraph      // a message, "--> place", then all up to a blank line
	sections       // a heading, then all that is indented, blank lines too
)

// diagnostic is the one whose lines come now. Its buffers are used again.
type diagnostic struct {
	kind    kind
	at      position // without what refers to a line
	file    []byte
	pos     []byte
	rule    []byte
	msg     []byte
	split   bool
	hidden  bool // the first lines do not name the rule
	rust    bool
	follows bool // a note, and its error stayed
	muted   bool // a note that says too little, and its code

	raw       []byte // all lines with their ends
	rawLines  int
	cut       int // lines that are not in raw since the last that is
	first     []byte
	hints     []byte
	notes     []byte
	source    []byte // the last line, which may be code
	hasSource bool
	framed    bool
	gap       bool // a blank line was the last
	noteOpen  bool // notes ends in one whose place may follow
}

// Bounds of one diagnostic that stays as it is: the lines that stay, those that
// stay if they are notes or the like, and the bytes.
const (
	maxRaw      = 60
	maxRawNotes = 140
	maxRawBytes = 64 << 10
)

func (d *diagnostic) open(k kind, l []byte) {
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
	if len(d.raw)+len(l) > maxRawBytes || d.rawLines > maxRawNotes || d.rawLines > maxRaw && !important(l) && !bytes.Contains(l, []byte("note:")) && !bytes.Contains(l, []byte("help:")) {
		d.cut++
		return
	}
	d.endCut()
	d.raw = append(append(d.raw, l...), '\n')
}

func (d *diagnostic) endCut() {
	if d.cut > 0 {
		d.raw = append(append(d.raw, omission(d.cut)...), '\n')
		d.cut = 0
	}
}

func (d *diagnostic) set(p position) {
	d.file, d.pos, d.rule, d.msg = append(d.file, p.file...), append(d.pos, p.pos...), append(d.rule, p.rule...), append(d.msg, p.msg...)
	p.file, p.pos, p.rule, p.msg = nil, nil, nil, nil
	d.at = p
}

// begins takes a line that begins a diagnostic, or leads to one.
func (g *grouping) begins(l []byte) bool {
	t, d := &g.text, &g.cur
	if place, ok := arrow(l); ok {
		return g.beginsParagraph(l, place)
	}
	if leading(l) {
		g.leads(l)
		return true
	}
	if l[0] == ' ' || l[0] == '\t' || l[0] >= '0' && l[0] <= '9' {
		if p, ok := tableRow(l); ok && (t.inFile || isFileName(t.held)) {
			if !t.inFile {
				t.file = append(t.file[:0], t.held...)
				t.held = t.held[:0]
			}
			g.flushHeld()
			d.open(oneLine, l)
			d.set(p)
			d.file = append(d.file, t.file...)
			d.pos = append([]byte{':'}, d.pos...)
			d.split, d.at.linter = true, true
			t.inFile = true
			d.first = append(append(append(append(d.first, d.file...), ':'), narrow(unindent(l))...), '\n')
			return true
		}
	}
	t.inFile = false
	if bytes.HasPrefix(l, []byte("In ")) && g.beginsShell(l) {
		return true
	}
	if at := bytes.Index(l, []byte(" ━━")); at > 0 && g.beginsSections(l, l[:at]) {
		return true
	}
	p, ok := locate(l)
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
	if p.sev == isNote && len(p.rule) == 0 && g.stayed { // of an error, though other lines lie between
		g.flushHeld()
		d.open(oneLine, l)
		d.set(p)
		d.follows = true
		if d.muted = g.tooMany(p.file); d.muted {
			d.raw, d.cut = d.raw[:0], 1
		}
		return true
	}
	if bytes.Equal(t.held, p.file) { // a heading that says less
		t.held = t.held[:0]
		g.dropped++
	}
	g.flushHeld()
	g.notes = 0
	if p.sev == isError && len(p.rule) == 0 && g.store.seenBefore(&finding{rule: []byte("notes"), msg: p.msg}) { // its notes would say the same
		g.notes = maxNotesFull
	}
	d.open(oneLine, l)
	d.set(p)
	d.first = append(append(d.first, bytes.TrimSpace(l)...), '\n')
	return true
}

// maxNotesFull is how many notes of an error show code of others; more of them
// are what a compiler tried, mostly.
const maxNotesFull = 3

// tooMany counts the notes of an error, and reports whether one more of this
// file says too little.
func (g *grouping) tooMany(file []byte) bool {
	g.notes++
	return g.notes > maxNotesFull && foreignFile(file)
}

// foreignFile reports whether a file is of the system or of a library.
func foreignFile(file []byte) bool {
	for _, dir := range foreignDirs {
		if bytes.HasPrefix(file, dir) {
			return true
		}
	}
	return bytes.Contains(file, []byte("/.cargo/")) || bytes.Contains(file, []byte("/node_modules/")) || bytes.Contains(file, []byte("/.conan"))
}

var foreignDirs = [][]byte{[]byte("/usr/"), []byte("/opt/"), []byte("/Library/"), []byte("/Applications/"), []byte("/nix/"), []byte("/lib/"), []byte("C:\\Program")}

// leading reports whether a line says where the diagnostics behind it come from.
func leading(l []byte) bool {
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
	return rooted || bytes.IndexByte(l, ' ') < 0 && bytes.IndexAny(l, "./\\") >= 0
}

// narrow makes runs of blanks two.
func narrow(l []byte) []byte {
	out := make([]byte, 0, len(l))
	for i, b := range l {
		if b == ' ' && i > 1 && l[i-1] == ' ' && l[i-2] == ' ' {
			continue
		}
		out = append(out, b)
	}
	return out
}

// arrow gives the place of a line "  --> file:1:2" and the like.
func arrow(l []byte) (place []byte, ok bool) {
	in := unindent(l)
	if len(in) == len(l) || len(in) < 6 {
		return nil, false
	}
	for _, mark := range arrows {
		if bytes.HasPrefix(in, mark) {
			place = bytes.Trim(in[len(mark):], " []")
			if at := bytes.IndexByte(place, ':'); at > 0 && digitRun(place[at+1:]) > 0 || bytes.IndexByte(place, '.') > 0 && bytes.IndexByte(place, ' ') < 0 {
				return place, true
			}
		}
	}
	return nil, false
}

var arrows = [][]byte{[]byte("--> "), []byte("╭─["), []byte(",-["), []byte("┌─ "), []byte("╭▸ ")}

// beginsParagraph begins a diagnostic whose first line was the last.
func (g *grouping) beginsParagraph(l, place []byte) bool {
	t, d := &g.text, &g.cur
	if len(t.held) == 0 {
		return false
	}
	head := append([]byte(nil), t.held...)
	t.held = t.held[:0]
	g.flushText()
	t.inFile = false
	d.open(paragraph, head)
	d.keep(l)
	var p position
	p.file, p.pos = place, nil
	if at := bytes.IndexByte(place, ':'); at > 0 {
		p.file, p.pos = place[:at], place[at:]
	}
	p.headed(bytes.TrimSpace(head))
	d.set(p)
	d.rust = p.known
	d.hidden = len(p.rule) == 0 && p.known
	d.framed = true
	d.first = append(append(append(append(d.first, head...), "\n  --> "...), place...), '\n')
	return true
}

// headed reads the message above a place.
func (p *position) headed(head []byte) {
	p.sev = isIssue
	p.msg = head
	if rest, ok := p.word(head); ok && (rest[0] == ':' || rest[0] == '[') {
		if rest[0] == '[' {
			if end := bytes.IndexByte(rest, ']'); end > 0 {
				if p.sev != isError || !isErrorCode(rest[1:end]) {
					p.rule = rest[1:end]
				}
				rest = rest[end+1:]
			}
		}
		p.msg = unindent(bytes.TrimPrefix(rest, []byte(":")))
		return
	}
	p.known = false
	rest := head
	for _, glyph := range []struct {
		text string
		sev  severity
	}{{"× ", isError}, {"✖ ", isError}, {"x ", isError}, {"⚠ ", isWarning}, {"! ", isWarning}, {"☞ ", isIssue}, {"> ", isIssue}} {
		if bytes.HasPrefix(rest, []byte(glyph.text)) {
			p.sev, rest = glyph.sev, unindent(rest[len(glyph.text):])
			break
		}
	}
	p.linter = true
	p.msg = rest
	end := bytes.IndexAny(rest, ": ")
	if end <= 0 {
		return
	}
	token := rest[:end]
	switch {
	case rest[end] == ' ' && isCode(token), rest[end] == ':' && isRule(token):
		p.rule, p.msg = token, unindent(rest[end+1:])
	case rest[end] == ':' && bytes.HasSuffix(token, []byte(")")) && bytes.IndexByte(token, '(') > 0: // plugin(rule)
		p.rule, p.msg = token, unindent(rest[end+1:])
	}
}

// isErrorCode reports whether a code is one of rustc's for errors.
func isErrorCode(l []byte) bool { return len(l) == 5 && l[0] == 'E' && digitRun(l[1:]) == 4 }

// beginsSections begins a diagnostic with a heading.
func (g *grouping) beginsSections(l, head []byte) bool {
	fields := bytes.Fields(head)
	if len(fields) < 2 || l[0] == ' ' || len(fields) > 4 {
		return false
	}
	g.flushText()
	d := &g.cur
	d.open(sections, bytes.TrimRight(head, " "))
	p := position{file: fields[0], rule: fields[1], sev: isIssue, linter: true, known: true}
	for i := 1; i < len(p.file); i++ {
		if n, _ := positionAt(p.file[i:]); n == len(p.file)-i && p.file[i] == ':' {
			p.file, p.pos = p.file[:i], p.file[i:]
			break
		}
	}
	d.set(p)
	d.framed = true
	d.first = append(append(append(append(d.first, fields[0]...), ' '), fields[1]...), '\n')
	return true
}

// continues takes a line that belongs to the diagnostic before it.
func (g *grouping) continues(l []byte) bool {
	switch d := &g.cur; d.kind {
	case paragraph:
		if len(l) == 0 {
			return false
		}
		if d.absorb(l) {
			g.dropped++
		} else {
			d.keep(l)
		}
		return true
	case sections:
		if len(l) > 0 && l[0] != ' ' && l[0] != '\t' {
			return false
		}
		d.keep(l)
		d.section(l)
		return true
	}
	return g.continuesLine(l)
}

func (g *grouping) continuesLine(l []byte) bool {
	d := &g.cur
	if len(l) == 0 {
		if !d.at.pretty || d.gap {
			return false
		}
		d.unhold()
		d.gap = true
		d.keep(nil)
		return true
	}
	if showsCode(l) || d.at.pretty && d.gap && isCodeLine(l) {
		d.hasSource = false
		d.framed, d.gap = true, false
		d.keep(l)
		return true
	}
	if d.hasSource && len(d.source) > 0 && d.source[0] != ' ' && d.source[0] != '\t' {
		return false
	}
	indented := l[0] == ' ' || l[0] == '\t'
	if p, ok := locate(l); ok {
		same := p.known && p.sev == isNote && len(p.rule) == 0 && (d.compiles() || bytes.Count(p.pos, []byte(":")) > 1 || bytes.Equal(p.file, d.file) && bytes.Equal(p.pos, d.pos)) || p.relation && indented && d.at.pretty
		if !same {
			return false
		}
		d.unhold()
		d.gap = false
		d.muted = (d.follows || d.at.sev == isError && d.compiles()) && g.tooMany(p.file)
		d.keep(l)
		d.addNote(g.noteText(p, l))
		return true
	}
	if d.gap {
		return false
	}
	if string(d.rule) == "R0801" && l[0] != '*' && l[0] != '-' { // pylint shows code that is there twice
		d.keep(l)
		if bytes.HasPrefix(l, []byte("==")) {
			d.addNote(l)
		}
		return true
	}
	if _, ok := tableRow(l); ok && d.split {
		return false
	}
	for _, mark := range []string{"[ERROR]   ", "[WARNING]   "} {
		if bytes.HasPrefix(l, []byte(mark)) {
			d.unhold()
			d.keep(l)
			d.addNote(l)
			return true
		}
	}
	if d.split || d.alone() || leading(l) || g.noise.match(l) || g.echo.match(l) || commandOf(l) != noCommand {
		return false
	}
	if !indented {
		if d.joins(l) {
			return true
		}
		if _, ok := arrow(l); ok || d.hasSource || d.framed {
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

// alone reports whether nothing follows a diagnostic of its kind.
func (d *diagnostic) alone() bool {
	return len(d.pos) > 0 && d.pos[0] == '(' && len(d.rule) > 0 && !bytes.HasPrefix(d.rule, []byte("TS"))
}

// noteText is a note without the place that it shares with its diagnostic.
func (g *grouping) noteText(p position, l []byte) []byte {
	d := &g.cur
	if bytes.Equal(p.file, d.file) && bytes.Equal(p.pos, d.pos) {
		return append([]byte("  note: "), p.msg...)
	}
	return l
}

// joins takes the end of a message that was wrapped, with its rule.
func (d *diagnostic) joins(l []byte) bool {
	if len(d.rule) > 0 || !d.at.known || d.framed || d.hasSource || len(l) == 0 || l[len(l)-1] != ']' {
		return false
	}
	text, rule := trailing(l)
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

// unhold makes a line that was not code one of the notes.
func (d *diagnostic) unhold() {
	if d.hasSource && len(d.source) > 0 && (d.source[0] == ' ' || d.source[0] == '\t') {
		d.addNote(d.source)
	}
	d.hasSource = false
}

func (d *diagnostic) addNote(l []byte) {
	in := unindent(l)
	if bytes.HasPrefix(in, []byte("= help: ")) || bytes.HasPrefix(in, []byte("help: ")) {
		d.hints = append(append(append(d.hints, "  "...), bytes.TrimPrefix(in, []byte("= "))...), '\n')
		return
	}
	if len(d.rule) == 0 && d.at.pretty {
		if _, rule := trailing(l); bytes.HasPrefix(rule, []byte("report")) {
			d.rule = append(d.rule, rule...)
		}
	}
	d.notes = append(append(append(d.notes, "  "...), bytes.TrimPrefix(in, []byte("= "))...), '\n')
}

// showsCode reports whether a line shows code or points into it.
func showsCode(l []byte) bool {
	in := unindent(l)
	if len(in) == 0 {
		return false
	}
	if in[0] == '>' && len(in) > 1 && in[1] == ' ' {
		in = unindent(in[1:])
	}
	n := digitRun(in)
	rest := unindent(in[n:])
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

// isCodeLine reports whether a line is "12 code".
func isCodeLine(l []byte) bool {
	in := unindent(l)
	n := digitRun(in)
	return n > 0 && (n == len(in) || in[n] == ' ') || len(in) > 2 && in[0] == '.' && in[1] == '.'
}

// absorb takes what a line of a paragraph tells besides code, and reports
// whether the line is but a hint where to read more.
func (d *diagnostic) absorb(l []byte) (hint bool) {
	in := unindent(l)
	if len(in) == 0 {
		return false
	}
	if place, ok := arrow(l); ok {
		if d.noteOpen {
			d.notes = append(append(append(d.notes[:len(d.notes)-1], " --> "...), place...), '\n')
			d.noteOpen = false
		}
		return false
	}
	d.noteOpen = false
	var marked bool
	if in, marked = bytes.CutPrefix(in, []byte("= ")); !marked && in[0] != 'n' && in[0] != 'h' && in[0] != 'H' {
		d.label(in)
		return false
	}
	switch {
	case bytes.HasPrefix(in, []byte("note: ")):
		if d.lint(in) {
			return false
		}
		d.notes = append(append(append(d.notes, "  "...), in...), '\n')
		d.noteOpen = true
	case bytes.HasPrefix(in, []byte("help: ")), bytes.HasPrefix(in, []byte("Help: ")):
		if d.lint(in) {
			return true
		}
		d.hints = append(append(append(d.hints, "  "...), in...), '\n')
	case marked:
		d.notes = append(append(append(d.notes, "  "...), in...), '\n')
	}
	return false
}

// label takes what stands behind the carets that point at the place.
func (d *diagnostic) label(in []byte) {
	if len(d.hints) > 0 {
		return
	}
	n := digitRun(in)
	rest := unindent(in[n:])
	if n > 0 || len(rest) == 0 || rest[0] != '|' {
		return
	}
	at := bytes.LastIndexByte(rest, '^')
	if at < 0 || at+2 >= len(rest) || rest[at+1] != ' ' {
		return
	}
	if text := bytes.TrimSpace(rest[at+1:]); len(text) > 0 && text[0] != '-' && text[0] != '|' {
		d.hints = append(append(append(d.hints, "  "...), text...), '\n')
	}
}

// lint reads the name of the rule from a note about its level, and reports
// whether the line tells no more.
func (d *diagnostic) lint(in []byte) bool {
	if at := bytes.Index(in, []byte("for further information visit ")); at >= 0 {
		if hash := bytes.LastIndexByte(in, '#'); hash > at {
			d.named([]byte("clippy::"), in[hash+1:])
		}
		return true
	}
	for _, mark := range []string{"#[warn(", "#[deny(", "#[forbid(", "#[allow(", "#![warn(", "#![deny("} {
		if at := bytes.Index(in, []byte(mark)); at >= 0 {
			rest := in[at+len(mark):]
			if end := bytes.IndexByte(rest, ')'); end > 0 {
				d.named(nil, rest[:end])
				return bytes.Contains(in, []byte("on by default")) || bytes.Contains(in, []byte("implied by")) || bytes.Contains(in, []byte("to override"))
			}
		}
	}
	for _, mark := range []string{"`-D ", "`-W ", "`-F "} {
		if at := bytes.Index(in, []byte(mark)); at >= 0 {
			rest := in[at+len(mark):]
			if end := bytes.IndexByte(rest, '`'); end > 0 {
				d.named(nil, bytes.ReplaceAll(rest[:end], []byte("-"), []byte("_")))
				return true
			}
		}
	}
	return bytes.HasPrefix(in, []byte("note: the lint level is defined here"))
}

func (d *diagnostic) named(prefix, name []byte) {
	if !d.rust || len(d.rule) > 0 || bytes.Equal(name, []byte("warnings")) || !isRule(name) {
		return
	}
	d.rule = append(append(d.rule, prefix...), name...)
}

// section takes a line below a heading.
func (d *diagnostic) section(l []byte) {
	if len(d.msg) > 0 {
		return
	}
	in := unindent(l)
	for _, glyph := range []struct {
		text string
		sev  severity
	}{{"× ", isError}, {"✖ ", isError}, {"! ", isWarning}, {"⚠ ", isWarning}, {"i ", isIssue}, {"ℹ ", isIssue}} {
		if rest, ok := bytes.CutPrefix(in, []byte(glyph.text)); ok {
			d.at.sev = glyph.sev
			d.msg = append(d.msg, rest...)
			d.first = append(append(append(d.first, "  "...), in...), '\n')
			return
		}
	}
}

// maxLinted is how many errors of linters are shown with their code.
const maxLinted = 8

// close ends a diagnostic: it goes to the body or to the store.
func (g *grouping) close() {
	d := &g.cur
	if d.kind == closed {
		return
	}
	var text []byte // a line that was not part of it
	if d.hasSource && len(d.source) > 0 && d.source[0] != ' ' && d.source[0] != '\t' {
		text = d.source
		d.hasSource = false
	}
	d.unhold()
	g.body.settle()
	if d.gap {
		d.raw = bytes.TrimRight(d.raw, "\n")
		d.raw = append(d.raw, '\n')
	}
	if d.rust {
		d.rule = g.store.nameOf(d.rule, d.msg)
	}
	if g.stayed = g.stays(); g.stayed {
		g.write()
	} else {
		g.endMuted()
		g.body.settle()
		g.group()
	}
	d.kind = closed
	g.text.spent = len(g.text.lead) > 0
	if text != nil {
		g.plainAgain(text)
	}
}

// plainAgain takes a line as if the diagnostic before it had not been.
func (g *grouping) plainAgain(l []byte) { g.plain(l) }

// stays reports whether the diagnostic goes to the body, with its code.
func (g *grouping) stays() bool {
	d := &g.cur
	switch {
	case d.follows, d.kind == paragraph && d.at.sev == isIssue && len(d.rule) == 0: // nobody knows what it is
		return true
	case d.at.sev != isError || d.split:
		return false
	case d.compiles():
		if len(g.text.lead) == 0 && g.store.seenBefore(&finding{rule: []byte("stays"), msg: unmarked(d.raw)}) { // told again by a summary
			d.raw, d.cut = d.raw[:0], 0
			g.dropped += d.rawLines
			return true
		}
		if g.fulls < g.maxErrors {
			g.fulls++
			return true
		}
		return false
	case d.kind == sections:
		return bytes.Equal(d.rule, []byte("parse"))
	case d.framed && g.linted < maxLinted:
		f := g.finding()
		if g.store.seenBefore(&finding{sev: f.sev, rule: f.rule, msg: f.msg}) {
			return false
		}
		g.linted++
		f.above, f.unnamed = true, true
		g.store.add(&f)
		return true
	}
	return false
}

// unmarked gives the lines of a diagnostic without what stands before them in
// one place of an output and not in another.
func unmarked(raw []byte) []byte {
	var out []byte
	for l := range bytes.Lines(raw) {
		l = bytes.TrimPrefix(l, []byte("[ERROR] "))
		if !showsCode(bytes.TrimRight(l, "\n")) {
			l = unindent(l)
		}
		out = append(out, l...)
	}
	return out
}

// compiles reports whether the diagnostic is a compiler's, not a linter's.
func (d *diagnostic) compiles() bool {
	if d.rust { // its lints have names
		return len(d.rule) == 0
	}
	return !d.at.linter && d.kind == oneLine && (len(d.rule) == 0 || bytes.HasPrefix(d.rule, []byte("-W")) || bytes.HasPrefix(d.rule, []byte("clang-diagnostic")))
}

// write puts a diagnostic into the body.
func (g *grouping) write() {
	g.failed = true
	d, t := &g.cur, &g.text
	if len(d.raw) > 0 {
		g.endMuted()
		if g.run.Exit != 0 {
			g.tell()
		}
		writeAll(&g.body, condense(t.lead))
	}
	t.lead = t.lead[:0]
	writeAll(&g.body, d.raw)
	g.muted += d.cut
	d.cut = 0
	if g.cur.gap {
		g.body.text(nil)
	}
	g.body.settle()
}

// endMuted says how many lines of notes are left out here.
func (g *grouping) endMuted() {
	if g.muted > 0 {
		g.body.text(omission(g.muted))
		g.dropped += g.muted
		g.muted = 0
		g.body.settle()
	}
}

// maxChain is how many lines of a chain lead to an error.
const maxChain = 4

// condense shortens chains of files that include one another and of templates
// that need one another, of which the ends tell most.
func condense(lead []byte) []byte {
	if bytes.Count(lead, []byte("\n")) <= maxChain {
		return lead
	}
	var out, chain []byte
	end := func() {
		if n := bytes.Count(chain, []byte("\n")); n > maxChain {
			lines := bytes.SplitAfter(chain, []byte("\n"))
			out = append(append(append(out, lines[0]...), omission(n-maxChain+1)...), '\n')
			for _, l := range lines[n-maxChain+2 : n] {
				out = append(out, l...)
			}
		} else {
			out = append(out, chain...)
		}
		chain = chain[:0]
	}
	for _, l := range bytes.SplitAfter(lead, []byte("\n")) {
		if bytes.Contains(l, []byte(" required ")) || bytes.HasPrefix(l, []byte("                 from ")) {
			chain = append(chain, l...)
			continue
		}
		end()
		out = append(out, l...)
	}
	end()
	return out
}

func writeAll(to *bodyText, text []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		to.text(text[:end])
		text = text[end+1:]
	}
}

func (g *grouping) finding() finding {
	d := &g.cur
	return finding{sev: d.at.sev, rule: d.rule, msg: d.msg, file: d.file, pos: d.pos, split: d.split, first: d.first, hints: d.hints, notes: d.notes, unnamed: d.hidden}
}

// group puts a diagnostic into the store.
func (g *grouping) group() {
	f := g.finding()
	g.store.add(&f)
}

// runeEnd is where to cut a text to at most n bytes.
func runeEnd(l []byte, n int) int {
	if len(l) <= n {
		return len(l)
	}
	for n > 0 && !utf8.RuneStart(l[n]) {
		n--
	}
	return n
}
