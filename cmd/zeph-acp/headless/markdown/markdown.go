// Package markdown lays out the Markdown of a model for a terminal, line by line as it
// streams.
//
// Start with [New], call Line with each line of the source and End after the last. Both
// return the rows that are complete. A heading, a line of code and a list item appear
// immediately; a paragraph when it ends, and a table as a whole. The package reads the
// Markdown that models write: headings, lists, code, quotes, tables, links and emphasis.
// Other markup stays unchanged, HTML too. No text is lost.
//
// Why a parser of our own? Those for HTML need the whole document, and build tables at the
// start of the process, which every other command would pay for.
package markdown

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Row is one row of the terminal.
type Row = []layout.Span

// Styles, as parameters of SGR.
const (
	heading = "1;36"
	bold    = "1"
	italic  = "3"
	dim     = "2"
	struck  = "9"
	code    = "36"
	link    = "4"
)

// Stream lays out one message. It is not safe for concurrent use.
type Stream struct {
	// Backquotes keeps the backquotes of a code span, for a terminal without colours: nothing
	// else would show that it is code.
	Backquotes bool

	columns int

	rows    []Row
	block   block
	lists   []int // the indents of the open list items, outermost first
	blank   bool  // an empty line comes before the next row
	started bool  // there was a row
}

// block is the open block; its text is complete when the block ends.
type block struct {
	text       []string // lines of a paragraph, or rows of a table
	size       int      // bytes of a paragraph
	indent     string   // before each row
	mark       string   // in place of the first indent: of a list item
	quote      int      // depth of quotes
	isTable    bool
	fence      string // the fence that ends a code block, "" outside of one
	codeIndent int    // columns of the fence's indentation, removed from each line of code
	code       *highlight.Lines
}

// maxParagraph bounds a paragraph of a terminal, in bytes: it must not wait for an end that
// never comes.
const maxParagraph = 16 << 10

// New returns a Stream for rows of at most so many columns.
func New(columns int) *Stream { return &Stream{columns: max(columns, 10)} }

// Clone returns a copy of a Stream, to see the rows that End would return.
func (s *Stream) Clone() *Stream {
	other := *s
	other.rows, other.lists, other.block.text = slices.Clone(s.rows), slices.Clone(s.lists), slices.Clone(s.block.text)
	if s.block.code != nil {
		other.block.code = s.block.code.Clone()
	}
	return &other
}

// Line returns the rows that are complete after one more line of the source.
func (s *Stream) Line(line string) []Row {
	s.line(layout.ExpandTabs(strings.TrimRight(line, "\r\n")))
	return s.takeRows()
}

// End returns the remaining rows.
func (s *Stream) End() []Row {
	s.end()
	s.block = block{}
	return s.takeRows()
}

// takeRows returns the rows that are complete, and forgets them.
func (s *Stream) takeRows() []Row {
	rows := s.rows
	s.rows = nil
	return rows
}

var (
	headingPattern = lazyregexp.New(`^ {0,3}(#{1,6})(?: +(.*?))?(?: +#+)? *$`)
	fencePattern   = lazyregexp.New("^( *)(`{3,}|~{3,})([^`]*)$")
	itemPattern    = lazyregexp.New(`^( *)([-*+]|\d{1,4}[.)])( +|$)(.*)$`)
	rulePattern    = lazyregexp.New(`^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$`)
	delimiters     = lazyregexp.New(`^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$`)
	quotePattern   = lazyregexp.New(`^ {0,3}> ?`)
)

// line processes a line whose tabs are spaces.
func (s *Stream) line(line string) {
	if s.block.fence != "" {
		s.codeLine(line)
		return
	}
	text, quote := line, 0
	for quotePattern.MatchString(text) {
		text, quote = text[len(quotePattern.FindString(text)):], quote+1
	}
	quote = min(quote, s.columns/8) // as far as a row has the space to show it
	if quote != s.block.quote && strings.TrimSpace(text) != "" {
		s.end()
		s.block.quote, s.lists = quote, nil
	}
	if strings.TrimSpace(text) == "" {
		s.end()
		s.blank = s.started
		return
	}
	switch {
	case fencePattern.MatchString(text):
		s.openFence(text)
	case headingPattern.MatchString(text):
		s.heading(text)
	case len(s.block.text) == 1 && !s.block.isTable && strings.Contains(s.block.text[0], "|") && delimiters.MatchString(text):
		s.block.isTable = true
		s.block.text = append(s.block.text, text)
	case s.block.isTable && strings.Contains(text, "|"):
		s.block.text = append(s.block.text, text)
	case rulePattern.MatchString(text):
		s.end()
		s.lists = nil
		s.print(Row{{Text: strings.Repeat("─", max(s.columns-2*quote, 3)), Style: dim}})
	case itemPattern.MatchString(text):
		s.item(text)
	default:
		s.paragraph(text)
	}
}

// heading prints a heading, after an empty line.
func (s *Stream) heading(line string) {
	s.end()
	s.lists, s.block.indent = nil, ""
	m := headingPattern.FindStringSubmatch(line)
	s.blank = s.started
	style := bold
	if len(m[1]) <= 2 {
		style = heading
	}
	s.wrap(s.shown(inline(m[2], style)), "", "")
	s.blank = true
}

// item begins a list item. Its depth is the number of open items that begin left of it.
func (s *Stream) item(line string) {
	s.end()
	m := itemPattern.FindStringSubmatch(line)
	indent := len(m[1])
	s.closeLists(indent)
	depth := s.depth()
	s.lists = append(s.lists, indent)
	mark := m[2]
	if len(mark) == 1 {
		mark = [...]string{"•", "◦", "▪"}[min(depth, 2)]
	}
	text := m[4]
	for box, shown := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if rest, ok := strings.CutPrefix(text, box); ok {
			text = shown + rest
		}
	}
	s.block.mark = strings.Repeat("  ", depth) + mark + " "
	s.block.indent = strings.Repeat(" ", layout.Columns(s.block.mark))
	if s.block.text = nil; text != "" {
		s.block.text = []string{text}
	}
}

// closeLists closes the list items that begin at an indent or right of it.
func (s *Stream) closeLists(indent int) {
	for len(s.lists) > 0 && s.lists[len(s.lists)-1] >= indent {
		s.lists = s.lists[:len(s.lists)-1]
	}
}

// depth returns the number of open list items, as far as a row has the space to show it.
func (s *Stream) depth() int { return min(len(s.lists), s.columns/8) }

// paragraph adds a line to the open paragraph or list item, or opens a paragraph.
func (s *Stream) paragraph(line string) {
	text := strings.TrimLeft(line, " ")
	if s.block.isTable {
		s.end()
	}
	if len(s.block.text) == 0 && s.block.mark == "" {
		depth := len(line) - len(text)
		s.closeLists(depth)
		s.block.indent = strings.Repeat("  ", s.depth())
		if len(s.lists) == 0 && depth >= 4 { // indented code
			s.wrap(Row{{Text: line[4:], Style: code}}, "    ", "    ")
			return
		}
	}
	s.block.text = append(s.block.text, text)
	if s.block.size += len(text); s.block.size > maxParagraph {
		s.end()
	}
}

// openFence begins a code block.
func (s *Stream) openFence(line string) {
	m := fencePattern.FindStringSubmatch(line)
	s.end()
	s.closeLists(len(m[1]))
	s.block.fence, s.block.codeIndent = m[2], len(m[1])
	s.block.indent = strings.Repeat("  ", s.depth())
	info := strings.TrimSpace(m[3])
	if language := Language(info); !language.IsPlain() {
		s.block.code = language.Lines()
	}
	if info != "" {
		s.wrap(Row{{Text: "┄ " + info, Style: dim}}, s.block.indent, s.block.indent)
	}
}

// codeLine prints a line of code, or closes the code block.
func (s *Stream) codeLine(line string) {
	for range s.block.quote {
		line = line[len(quotePattern.FindString(line)):]
	}
	inner := strings.TrimLeft(line, " ")
	if fence := strings.TrimRight(inner, " "); strings.HasPrefix(fence, s.block.fence) && strings.Trim(fence, fence[:1]) == "" {
		s.block = block{quote: s.block.quote}
		return
	}
	line = line[min(len(line)-len(inner), s.block.codeIndent):]
	row := Row{{Text: line, Style: code}}
	if s.block.code != nil {
		row = highlight.Spans(s.block.code.Line(line))
	}
	s.wrap(row, s.block.indent+"  ", s.block.indent+"  ")
}

// Language returns the language of a code block by what is written after its fence, such as "go",
// "go title=main.go" or "{.python}". It can be the name of a file.
func Language(info string) highlight.Language {
	word := strings.TrimLeft(info, "{. ")
	if end := strings.IndexAny(word, " ,{}:"); end >= 0 {
		word = word[:end]
	}
	if language := highlight.Named(word); !language.IsPlain() {
		return language
	}
	return highlight.ForFile(word)
}

// end prints the open paragraph, list item or table.
func (s *Stream) end() {
	b := s.block
	s.block = block{quote: b.quote}
	switch {
	case b.isTable:
		s.table(b)
	case len(b.text) > 0 || b.mark != "":
		first := b.indent
		if b.mark != "" {
			first = b.mark
		}
		for i, part := range paragraphParts(b.text) {
			if i > 0 {
				first = b.indent
			}
			s.wrapIn(b.quote, s.shown(inline(part, "")), first, b.indent)
		}
	}
}

// shown returns a row with the backquotes of code spans if they are kept.
func (s *Stream) shown(row Row) Row {
	for i, span := range row {
		if s.Backquotes && slices.Contains(strings.Split(span.Style, ";"), code) {
			row[i].Text = "`" + span.Text + "`"
		}
	}
	return row
}

// paragraphParts joins the lines of a paragraph, except at its hard line breaks.
func paragraphParts(lines []string) []string {
	parts := []string{""}
	for i, l := range lines {
		last := &parts[len(parts)-1]
		text, hard := strings.CutSuffix(l, `\`)
		hard = hard || strings.HasSuffix(l, "  ")
		if *last != "" {
			*last += " "
		}
		*last += strings.TrimRight(text, " ")
		if hard && i < len(lines)-1 {
			parts = append(parts, "")
		}
	}
	return parts
}

// wrap prints a line in rows, the first after first and the others after rest.
func (s *Stream) wrap(line Row, first, rest string) { s.wrapIn(s.block.quote, line, first, rest) }

// wrapIn is wrap for a line in quotes of a depth.
func (s *Stream) wrapIn(quote int, line Row, first, rest string) {
	for i, row := range layout.Wrap(line, max(s.columns-2*quote-layout.Columns(first), 4)) {
		indent := rest
		if i == 0 {
			indent = first
		}
		if indent != "" {
			row = append(Row{{Text: indent}}, row...)
		}
		s.printIn(quote, row)
	}
}

// print appends one row, with the empty line before it if there is one.
func (s *Stream) print(row Row) { s.printIn(s.block.quote, row) }

// printIn is print for a row in quotes of a depth.
func (s *Stream) printIn(quote int, row Row) {
	if s.blank {
		s.rows = append(s.rows, nil)
	}
	s.blank, s.started = false, true
	if quote > 0 {
		row = append(Row{{Text: strings.Repeat("▏ ", quote), Style: dim}}, row...)
	}
	s.rows = append(s.rows, row)
}
