package images

import (
	"bytes"
	"slices"
	"strings"
)

// lines follows the lines of a text to find its code. It is strict: a text is code only if it is for
// all renderers. Where they may differ, nothing is code until the end of the text (murky), up to a
// blank line (html), or up to a blank line or a fence (loose).
type lines struct {
	head     []byte // the beginning of the line
	tail     bool   // after the head, the line is not blank
	tailTick bool   // after the head, it has a backquote
	cr       bool   // the last byte was "\r"

	afterBlank  bool  // the line before was blank
	afterCode   bool  // it was indented code
	begun       bool  // there was a line
	items       []int // the first columns of list items that may be open
	fence       fence
	murky, html bool

	loose     bool // see above
	wasLoose  bool // at the beginning of the line
	run       int  // backquotes just before
	span      int  // the length of the run that opened a code span; 0 outside
	escaped   bool // the last byte was a backslash that escapes
	bracketed bool // the last byte was "]"
	depth     int  // of parentheses after "]("
}

// fence is an open fence; char is 0 if there is none.
type fence struct {
	char         byte
	length       int
	quotes, from int // what a line of the code must begin with: ">" and columns
}

const (
	maxHead  = 128 // bytes
	maxItems = 32  // levels of lists
)

// before is called before a byte is checked.
func (l *lines) before(c byte) {
	if l.cr && c != '\n' { // not a line end for all renderers
		l.murky = true
	}
	if c != '`' && l.run > 0 {
		switch l.span {
		case 0:
			l.span = l.run
		case l.run:
			l.span = 0
		}
		l.run = 0
	}
}

// step reads the next byte.
func (l *lines) step(c byte) {
	l.cr = c == '\r'
	if c == '\n' {
		l.end()
		return
	}
	switch {
	case len(l.head) < maxHead:
		l.head = append(l.head, c)
	case !isBlank(c):
		l.tail = true
		l.tailTick = l.tailTick || c == '`'
	}
	if l.fence.char == 0 {
		l.inline(c)
	}
}

// inline follows code spans.
func (l *lines) inline(c byte) {
	bracketed := l.bracketed
	l.bracketed = false
	switch {
	case l.escaped:
		l.escaped = false
		l.loose = l.loose || c == '`'
	case c == '`':
		l.run++
		l.loose = l.loose || l.depth > 0
	case l.span > 0:
		l.loose = l.loose || c == '|' // of a table, whose cells end spans
	case c == '\\':
		l.escaped = true
	case c == '$', c == ':' && bracketed:
		l.loose = true
	case c == ']':
		l.bracketed = true
	case c == '(' && (bracketed || l.depth > 0):
		l.depth++
	case l.depth == 0:
	case c == ')':
		l.depth--
	case c == '"', c == '\'', c == '<':
		l.loose = true
	}
}

// mayBeTag is called for a "<" that no letter follows.
func (l *lines) mayBeTag(next byte) {
	if l.span == 0 && (next == '/' || next == '!' || next == '?') {
		l.loose = true
	}
}

// onlyMarks reports whether the line so far can come before a definition.
func (l *lines) onlyMarks() bool {
	return len(l.head) < maxHead && len(bytes.TrimLeft(l.head, " \t>-+*0123456789.)")) == 0
}

// code reports whether the place of a window is in code.
func (l *lines) code(w window) answer {
	if l.fence.char != 0 {
		if !l.inFence() {
			l.murky, l.fence = true, fence{}
		}
		return is(!l.murky)
	}
	switch {
	case l.murky || l.html:
		return no
	case l.indented():
		return yes
	case l.loose || l.span == 0:
		return no
	}
	found := l.spanEnds(w)
	if found == no {
		l.loose, l.span = true, 0
	}
	return found
}

// spanEnds reports whether the open code span ends on its line.
func (l *lines) spanEnds(w window) answer {
	n := 0
	for i := range len(w.text) {
		c := w.text[i]
		if c == '`' {
			n++
			continue
		}
		if n == l.span {
			return yes
		}
		if n = 0; c == '\n' || c == '\r' || c == '|' {
			return no
		}
	}
	switch {
	case w.open():
		return unknown
	case w.final:
		return is(n == l.span)
	}
	return no
}

// inFence reports whether the line so far has what the fence needs.
func (l *lines) inFence() bool {
	quotes, _, rest := quoted(l.head, l.fence.quotes)
	columns, _ := indent(rest)
	return quotes == l.fence.quotes && (columns >= l.fence.from || len(l.head) == maxHead)
}

// indented reports whether the line is indented code.
func (l *lines) indented() bool {
	columns, _ := indent(l.head)
	return columns >= 4 && (l.afterBlank || l.afterCode || !l.begun) && len(l.items) == 0
}

// end ends a line.
func (l *lines) end() {
	l.before('\n')
	wasCode := false
	blank := !l.tail && len(bytes.TrimLeft(l.head, " \t\r")) == 0
	switch {
	case l.fence.char != 0:
		l.fenceLine(blank)
	case blank:
		l.loose, l.html, l.depth = false, false, 0
	default:
		wasCode = !l.murky && !l.html && l.indented()
		if l.span > 0 || l.depth > 0 {
			l.loose = true
		}
		if wasCode {
			l.loose = l.wasLoose
		} else {
			l.textLine()
		}
	}
	l.span, l.run, l.escaped, l.bracketed, l.depth = 0, 0, false, false, 0
	l.afterBlank, l.afterCode, l.begun = blank, wasCode || blank && l.afterCode, true
	l.wasLoose = l.loose
	l.head, l.tail, l.tailTick = l.head[:0], false, false
}

// fenceLine reads a line after an open fence.
func (l *lines) fenceLine(blank bool) {
	f := l.fence
	if blank && f.quotes == 0 {
		return
	}
	quotes, _, rest := quoted(l.head, f.quotes)
	columns, rest := indent(rest)
	n := runOf(rest, f.char)
	switch closes := n >= f.length && !l.tail && len(bytes.TrimRight(rest[n:], " \t\r")) == 0; {
	case quotes < f.quotes || columns < f.from && len(rest) > 0:
		l.murky, l.fence = true, fence{}
	case closes && (columns <= 3 || columns <= f.from):
		l.fence = fence{}
	case closes: // for some renderers
		l.murky, l.fence = true, fence{}
	}
}

// textLine reads a line that is neither blank nor code.
func (l *lines) textLine() {
	quotes, odd, rest := quoted(l.head, -1)
	columns, rest := indent(rest)
	if l.afterBlank {
		l.items = slices.DeleteFunc(l.items, func(from int) bool { return from > columns })
	}
	marker, bullet, gap := 0, false, 0
	if marker, bullet = listMark(rest); marker > 0 {
		after, inner := indent(rest[marker:])
		gap = after
		if next, _ := listMark(inner); next > 0 || odd || columns > 3 && quotes > 0 {
			odd = true
		}
		columns, rest = columns+marker+after, inner
		l.item(columns)
	}
	for _, mark := range []string{"[^", ":", "!!!", "???"} { // of notes, definitions and boxes
		if bytes.HasPrefix(rest, []byte(mark)) {
			l.item(4)
		}
	}
	if quotes > 0 && marker > 0 {
		l.item(4)
	}
	if len(rest) > 1 && rest[0] == '<' && (isLetter(rest[1]) || strings.IndexByte("/!?", rest[1]) >= 0) {
		l.htmlLine(rest)
		return
	}
	for _, char := range []byte("`~") {
		n := runOf(rest, char)
		if n < 3 {
			continue
		}
		l.loose = false
		fits := columns <= 3
		switch {
		case marker > 0:
			fits = quotes == 0 && columns-marker-gap <= 3 && gap <= 4 && (bullet || l.afterBlank || !l.begun)
		case columns > 3:
			fits = quotes == 0 && l.afterBlank && slices.ContainsFunc(l.items, func(from int) bool { return from <= columns && columns <= from+3 })
		}
		ticks := char == '`' && (l.tailTick || bytes.IndexByte(rest[n:], '`') >= 0)
		if l.html || ticks || odd || !fits || n == len(rest) && len(l.head) == maxHead {
			l.murky = true
			return
		}
		l.fence = fence{char, n, quotes, columns}
	}
}

// htmlLine reads a line that may begin a block of HTML.
func (l *lines) htmlLine(rest []byte) {
	l.html = true
	switch strings.ToLower(tagName(string(rest))) {
	case "", "pre", "script", "style", "textarea": // these go on after blank lines
		if rest[1] != '/' {
			l.murky = true
		}
	}
}

// item adds the first column of a list item.
func (l *lines) item(from int) {
	switch {
	case slices.Contains(l.items, from):
	case len(l.items) == maxItems:
		l.murky = true
	default:
		l.items = append(l.items, from)
	}
}

// quoted removes up to limit marks of a quotation, or all if limit is negative. odd reports that
// renderers may differ about them.
func quoted(line []byte, limit int) (n int, odd bool, rest []byte) {
	for n != limit {
		columns, after := indent(line)
		if len(after) == 0 || after[0] != '>' {
			break
		}
		odd = odd || columns > 3
		n++
		line = after[1:]
		if len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		} else if len(line) > 0 && line[0] == '\t' {
			odd = true
		}
	}
	return n, odd, line
}

// indent returns the columns of the blanks at the beginning of a line, and what follows them.
func indent(line []byte) (columns int, rest []byte) {
	for i, c := range line {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns, line[i:]
		}
	}
	return columns, nil
}

// listMark returns the length of the mark of a list item, and whether it is a bullet.
func listMark(line []byte) (n int, bullet bool) {
	if len(line) == 0 {
		return 0, false
	}
	if bullet = strings.IndexByte("-+*", line[0]) >= 0; bullet {
		n = 1
	} else {
		for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
			n++
		}
		if n == 0 || n == len(line) || line[n] != '.' && line[n] != ')' {
			return 0, false
		}
		n++
	}
	if n < len(line) && !isBlank(line[n]) {
		return 0, false
	}
	return n, bullet
}

// runOf returns how often a byte is repeated at the beginning of a text.
func runOf(text []byte, c byte) (n int) {
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}
