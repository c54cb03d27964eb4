package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// arrowPlace returns the place in a line such as " --> file:1:2".
func arrowPlace(l []byte) (place []byte, ok bool) {
	in := text.Unindent(l)
	if len(in) == len(l) || len(in) < 6 {
		return nil, false
	}
	for _, mark := range arrows {
		if bytes.HasPrefix(in, mark) {
			place = bytes.Trim(in[len(mark):], " []")
			if at := bytes.IndexByte(place, ':'); at > 0 && text.DigitsEnd(place[at+1:], 0) > 0 ||
				bytes.IndexByte(place, '.') > 0 && bytes.IndexByte(place, ' ') < 0 {
				return place, true
			}
		}
	}
	return nil, false
}

var arrows = [][]byte{[]byte("--> "), []byte("╭─["), []byte(",-["), []byte("┌─ "), []byte("╭▸ ")}

// beginParagraph begins a diagnostic whose first line was the last one.
func (g *groupingPass) beginParagraph(l, place []byte) bool {
	t, d := &g.held, &g.current
	if len(t.lastLine) == 0 {
		return false
	}
	head := append([]byte(nil), t.lastLine...)
	t.lastLine = t.lastLine[:0]
	g.flushText()
	t.inFile = false
	d.begin(paragraphLayout, head)
	d.addLine(l)
	var p position
	p.file, p.pos = place, nil
	if at := bytes.IndexByte(place, ':'); at > 0 {
		p.file, p.pos = place[:at], place[at:]
	}
	p.parseHeading(bytes.TrimSpace(head))
	d.setPosition(p)
	d.fromRust = p.hasSeverity
	d.ruleNotShown = len(p.rule) == 0 && p.hasSeverity
	d.hasFrame = true
	d.firstLines = append(append(append(append(d.firstLines, head...), "\n  --> "...), place...), '\n')
	return true
}

// parseHeading parses the message above a place.
func (p *position) parseHeading(head []byte) {
	p.sev = isIssue
	p.msg = head
	if rest, ok := p.parseSeverity(head); ok && (rest[0] == ':' || rest[0] == '[') {
		if rest[0] == '[' {
			if end := bytes.IndexByte(rest, ']'); end > 0 {
				if p.sev != isError || !isErrorCode(rest[1:end]) {
					p.rule = rest[1:end]
				}
				rest = rest[end+1:]
			}
		}
		p.msg = text.Unindent(bytes.TrimPrefix(rest, []byte(":")))
		return
	}
	p.hasSeverity = false
	rest := head
	for _, glyph := range []struct {
		text string
		sev  severity
	}{{"× ", isError}, {"✖ ", isError}, {"x ", isError}, {"⚠ ", isWarning}, {"! ", isWarning}, {"☞ ", isIssue}, {"> ", isIssue}} {
		if bytes.HasPrefix(rest, []byte(glyph.text)) {
			p.sev, rest = glyph.sev, text.Unindent(rest[len(glyph.text):])
			break
		}
	}
	p.fromLinter = true
	p.msg = rest
	end := bytes.IndexAny(rest, ": ")
	if end <= 0 {
		return
	}
	token := rest[:end]
	switch {
	case rest[end] == ' ' && isCode(token), rest[end] == ':' && isRule(token):
		p.rule, p.msg = token, text.Unindent(rest[end+1:])
	case rest[end] == ':' && bytes.HasSuffix(token, []byte(")")) && bytes.IndexByte(token, '(') > 0: // plugin(rule)
		p.rule, p.msg = token, text.Unindent(rest[end+1:])
	}
}

// isErrorCode reports whether a code is one of rustc's errors.
func isErrorCode(l []byte) bool { return len(l) == 5 && l[0] == 'E' && text.DigitsEnd(l[1:], 0) == 4 }

// beginSections begins a diagnostic with a heading.
func (g *groupingPass) beginSections(l, head []byte) bool {
	fields := bytes.Fields(head)
	if len(fields) < 2 || l[0] == ' ' || len(fields) > 4 {
		return false
	}
	if rule := fields[1]; bytes.IndexByte(rule, '/') < 0 && string(rule) != "parse" &&
		string(rule) != "format" && string(rule) != "organizeImports" && string(rule) != "configuration" {
		return false
	}
	g.flushText()
	d := &g.current
	d.begin(sectionsLayout, bytes.TrimRight(head, " "))
	p := position{file: fields[0], rule: fields[1], sev: isIssue, fromLinter: true, hasSeverity: true}
	for i := 1; i < len(p.file); i++ {
		if n, _ := positionAt(p.file[i:]); n == len(p.file)-i && p.file[i] == ':' {
			p.file, p.pos = p.file[:i], p.file[i:]
			break
		}
	}
	d.setPosition(p)
	d.hasFrame = true
	d.firstLines = append(append(append(append(d.firstLines, fields[0]...), ' '), fields[1]...), '\n')
	return true
}

// belongsToParagraph reports whether a line can belong to a paragraph.
func belongsToParagraph(l []byte) bool {
	if len(l) == 0 {
		return false
	}
	switch b := l[0]; {
	case b == ' ', b == '\t', b == '|', b == '.', b >= '0' && b <= '9', b >= 0x80:
		return true
	}
	return bytes.HasPrefix(l, []byte("note: ")) || bytes.HasPrefix(l, []byte("help: ")) || bytes.HasPrefix(l, []byte("LL "))
}

// addParagraphLine handles a line of a paragraph other than code. hint reports that the
// line only refers to documentation.
func (d *diagnostic) addParagraphLine(l []byte) (hint bool) {
	in := text.Unindent(l)
	if len(in) == 0 {
		return false
	}
	if place, ok := arrowPlace(l); ok {
		if d.noteOpen {
			d.notes = append(append(append(d.notes[:len(d.notes)-1], " --> "...), place...), '\n')
			d.noteOpen = false
		}
		return false
	}
	d.noteOpen = false
	var marked bool
	if in, marked = bytes.CutPrefix(in, []byte("= ")); !marked && in[0] != 'n' && in[0] != 'h' && in[0] != 'H' {
		d.parseLabel(in)
		return false
	}
	switch {
	case bytes.HasPrefix(in, []byte("note: ")):
		if d.parseLintName(in) {
			return false
		}
		d.notes = append(append(append(d.notes, "  "...), in...), '\n')
		d.noteOpen = true
	case bytes.HasPrefix(in, []byte("help: ")), bytes.HasPrefix(in, []byte("Help: ")):
		if d.parseLintName(in) {
			return true
		}
		d.hints = append(append(append(d.hints, "  "...), in...), '\n')
		d.inSuggestion = true
	case marked:
		d.notes = append(append(append(d.notes, "  "...), in...), '\n')
	}
	return false
}

// parseLabel handles a line of a frame that may end in a label, a text about marked
// code. The first label of carets is also a hint. Other labels count only if
// carets have none.
func (d *diagnostic) parseLabel(in []byte) {
	if d.inSuggestion || !isFrameMark(in) {
		return
	}
	label := bytes.TrimSpace(bytes.TrimLeft(in, frameMarks))
	if len(label) == 0 {
		return
	}
	at := bytes.LastIndexByte(in, '^')
	pointed := at >= 0 && bytes.HasSuffix(in[at+1:], label)
	if pointed && len(d.hints) == 0 {
		d.hints = append(append(append(d.hints, "  "...), label...), '\n')
	}
	if bytes.HasPrefix(label, []byte("help: ")) || d.caretLabels && !pointed {
		return
	}
	if pointed && !d.caretLabels {
		d.labels, d.caretLabels = d.labels[:0], true
	}
	d.addLabel(label)
}

// maxLabels limits the labels of a diagnostic, in bytes.
const maxLabels = 300

// frameMarks are the characters that frame code and connect it with labels.
const frameMarks = " |^~_-/\\│·╰╭├└┌─┬┴"

// isFrameMark reports whether a line of a frame shows no code.
func isFrameMark(in []byte) bool {
	return in[0] == '|' || bytes.HasPrefix(in, []byte("│")) || bytes.HasPrefix(in, []byte("·"))
}

// parseLintName parses the name of the rule in a note about its level. It reports whether
// the line has no other content.
func (d *diagnostic) parseLintName(in []byte) bool {
	if at := bytes.Index(in, []byte("for further information visit ")); at >= 0 {
		if hash := bytes.LastIndexByte(in, '#'); hash > at {
			d.setRule([]byte("clippy::"), in[hash+1:])
		}
		return true
	}
	for _, mark := range []string{"#[warn(", "#[deny(", "#[forbid(", "#[allow(", "#![warn(", "#![deny("} {
		if at := bytes.Index(in, []byte(mark)); at >= 0 {
			rest := in[at+len(mark):]
			if end := bytes.IndexByte(rest, ')'); end > 0 {
				d.setRule(nil, rest[:end])
				return bytes.Contains(in, []byte("on by default")) ||
					bytes.Contains(in, []byte("implied by")) ||
					bytes.Contains(in, []byte("to override"))
			}
		}
	}
	for _, mark := range []string{"`-D ", "`-W ", "`-F "} {
		if at := bytes.Index(in, []byte(mark)); at >= 0 {
			rest := in[at+len(mark):]
			if end := bytes.IndexByte(rest, '`'); end > 0 {
				d.setRule(nil, bytes.ReplaceAll(rest[:end], []byte("-"), []byte("_")))
				return true
			}
		}
	}
	return bytes.HasPrefix(in, []byte("note: the lint level is defined here"))
}

func (d *diagnostic) setRule(prefix, name []byte) {
	if !d.fromRust || len(d.rule) > 0 || bytes.Equal(name, []byte("warnings")) || !isRule(name) {
		return
	}
	d.rule = append(append(d.rule, prefix...), name...)
}

// addSectionLine handles a line below a heading: the message, then advice.
func (d *diagnostic) addSectionLine(l []byte) {
	in := text.Unindent(l)
	for _, glyph := range []struct {
		text string
		sev  severity
	}{{"× ", isError}, {"✖ ", isError}, {"! ", isWarning}, {"⚠ ", isWarning}, {"i ", isIssue}, {"ℹ ", isIssue}} {
		rest, ok := bytes.CutPrefix(in, []byte(glyph.text))
		switch {
		case !ok:
			continue
		case len(d.msg) > 0:
			d.addAdvice(rest)
		default:
			d.parsed.sev = glyph.sev
			d.msg = append(d.msg, rest...)
			d.firstLines = append(append(append(d.firstLines, "  "...), in...), '\n')
		}
		return
	}
	if len(d.advice) > 0 && bytes.IndexByte(in, '^') >= 0 && showsCode(l) {
		d.hints = append(append(append(d.hints, "  "...), d.advice...), '\n')
		d.addLabel(d.advice)
		d.advice = d.advice[:0]
	}
}

// addAdvice handles advice. Fixes are hints, and advice that points into code is a
// label. The rest only explains the rule.
func (d *diagnostic) addAdvice(advice []byte) {
	d.advice = d.advice[:0]
	if bytes.HasPrefix(advice, []byte("Safe fix: ")) || bytes.HasPrefix(advice, []byte("Unsafe fix: ")) {
		d.hints = append(append(append(d.hints, "  "...), advice...), '\n')
		return
	}
	d.advice = append(d.advice, advice...)
}

// addLabel adds a label.
func (d *diagnostic) addLabel(label []byte) {
	if len(d.labels)+len(label) > maxLabels {
		return
	}
	if len(d.labels) > 0 {
		d.labels = append(d.labels, "; "...)
	}
	d.labels = append(d.labels, label...)
}
