package lint

import "bytes"

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
		d.framed, d.shown, d.gap = true, true, false
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
		if _, ok := arrowPlace(l); ok || d.hasSource || d.shown {
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
	d.gap, d.shown = false, false
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
			d.hasSource, d.framed, d.shown = false, true, true
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
