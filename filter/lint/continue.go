package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// continueDiagnostic handles a line that belongs to the diagnostic before it.
func (g *groupingPass) continueDiagnostic(l []byte) bool {
	switch d := &g.current; d.layout {
	case paragraphLayout:
		if !belongsToParagraph(l) && !(d.parsed.fromLinter && bytes.HasPrefix(l, hunkRule)) {
			return false
		}
		if d.addParagraphLine(l) {
			g.dropped++
		} else {
			d.addLine(l)
		}
		return true
	case sectionsLayout:
		if len(l) > 0 && l[0] != ' ' && l[0] != '\t' {
			return false
		}
		d.addLine(l)
		d.addSectionLine(l)
		return true
	}
	return g.continueLine(l)
}

// hunkRule begins the line between two hunks of "ruff format".
var hunkRule = []byte("--------------------")

// lineMarks begin further lines of a diagnostic.
var lineMarks = text.ByteTexts("[ERROR]   ", "[WARNING]   ", "[error]  ", "[warn]  ", "[error]   ", "[warn]   ")

// continueLine handles a line that belongs to a diagnostic of oneLineLayout.
func (g *groupingPass) continueLine(l []byte) bool {
	d := &g.current
	duplicateCode := string(d.rule) == "R0801" // pylint shows duplicate code
	if len(l) == 0 {
		return d.continueBlank(duplicateCode)
	}
	if d.parsed.pretty && d.afterBlank && isPlace(l) {
		d.inRelated, d.afterBlank = true, false
		d.addLine(l)
		d.addNote(l)
		return true
	}
	if showsCode(l) || d.parsed.pretty && (d.afterBlank || d.inRelated) && isCodeLine(l) {
		d.addCode(l)
		return true
	}
	if d.holdsUnindented() {
		return false
	}
	indented := l[0] == ' ' || l[0] == '\t'
	if p, ok := g.locate(l); ok {
		return g.continuePlace(p, l, indented)
	}
	if d.afterBlank {
		return false
	}
	if duplicateCode && l[0] != '*' && l[0] != '-' {
		d.addDuplicateCode(l)
		return true
	}
	if _, ok := tableRow(l); ok && d.fileAbove {
		return false
	}
	if d.continueMark(l) {
		return true
	}
	if d.fileAbove || d.isOneLine() || isLeadIn(l) || isDiagnosticCount(l) || g.noise.Match(l) ||
		g.echo.Match(l) || commandOf(l) != noCommand {
		return false
	}
	if (!indented || bytes.HasPrefix(l, []byte(" ["))) && d.joinWrapped(l) {
		return true
	}
	if !indented {
		if _, ok := arrowPlace(l); ok || d.holdsLastLine || d.placeHasCode {
			return false
		}
	}
	d.releaseLastLine()
	d.lastLine = append(d.lastLine[:0], l...)
	d.holdsLastLine = true
	if indented {
		d.addLine(l)
	}
	return true
}

// addCode adds a line of code, after the held line, which was code too.
func (d *diagnostic) addCode(l []byte) {
	if d.holdsUnindented() {
		d.addLine(d.lastLine)
	}
	d.holdsLastLine = false
	d.hasFrame, d.placeHasCode, d.afterBlank = true, true, false
	d.addLine(l)
}

// addDuplicateCode adds a line of pylint's duplicate code.
func (d *diagnostic) addDuplicateCode(l []byte) {
	d.addLine(l)
	d.afterBlank = bytes.HasSuffix(l, []byte(" (duplicate-code)"))
	if bytes.HasPrefix(l, []byte("==")) {
		d.addNote(l)
	}
}

// continuePlace handles a line that begins with a place. It reports false if the line
// begins another diagnostic.
func (g *groupingPass) continuePlace(p position, l []byte, indented bool) bool {
	d := &g.current
	note := p.hasSeverity && p.sev == isNote && len(p.rule) == 0 &&
		(d.fromCompiler() || bytes.Count(p.pos, []byte(":")) > 1 || bytes.Equal(p.file, d.file) && bytes.Equal(p.pos, d.pos))
	if !note && !(p.isRelated && indented && d.parsed.pretty) {
		return false
	}
	d.releaseLastLine()
	d.afterBlank, d.placeHasCode = false, false
	d.muted = (d.isNote || d.parsed.sev == isError && d.fromCompiler()) && g.notes.isSurplus(p)
	d.addLine(l)
	d.addNote(g.noteText(p, l))
	return true
}

// continueBlank handles a blank line. duplicateCode reports that the diagnostic shows
// duplicate code, which may have blank lines.
func (d *diagnostic) continueBlank(duplicateCode bool) bool {
	if duplicateCode && !d.afterBlank {
		d.addLine(nil)
		return true
	}
	if !d.parsed.pretty || d.afterBlank {
		return false
	}
	d.releaseLastLine()
	d.afterBlank = true
	d.addLine(nil)
	return true
}

// continueMark handles a line that one of lineMarks begins.
func (d *diagnostic) continueMark(l []byte) bool {
	for _, mark := range lineMarks {
		inner, ok := bytes.CutPrefix(l, mark)
		if !ok {
			continue
		}
		d.addLine(l)
		if showsCode(inner) {
			d.holdsLastLine, d.hasFrame, d.placeHasCode = false, true, true
			return true
		}
		d.releaseLastLine()
		d.lastLine, d.holdsLastLine = append(append(d.lastLine[:0], ' '), inner...), true
		return true
	}
	return false
}

// isOneLine reports whether the diagnostic has only one line.
func (d *diagnostic) isOneLine() bool {
	return len(d.pos) > 0 && d.pos[0] == '(' && len(d.rule) > 0 && !bytes.HasPrefix(d.rule, []byte("TS"))
}

// noteText returns a note without the place that it shares with its diagnostic.
func (g *groupingPass) noteText(p position, l []byte) []byte {
	d := &g.current
	if bytes.Equal(p.file, d.file) && bytes.Equal(p.pos, d.pos) {
		return append([]byte("  note: "), p.msg...)
	}
	return l
}

// joinWrapped handles the end of a wrapped message with its rule.
func (d *diagnostic) joinWrapped(l []byte) bool {
	// the note of an error that stayed has no first line
	if len(d.firstLines) == 0 || len(d.rule) > 0 || !d.parsed.hasSeverity || d.hasFrame || d.holdsLastLine ||
		len(l) == 0 || l[len(l)-1] != ']' {
		return false
	}
	msg, rule := splitTrailingRule(l)
	if rule == nil {
		return false
	}
	d.rule = append(d.rule, rule...)
	d.firstLines = append(append(append(d.firstLines[:len(d.firstLines)-1], ' '), text.Unindent(l)...), '\n')
	if len(msg) > 0 {
		d.msg = append(append(d.msg, ' '), msg...)
	}
	d.addLine(l)
	return true
}
