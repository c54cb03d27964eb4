package headless

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// style is a parameter of SGR: https://www.ecma-international.org/publications-and-standards/standards/ecma-48/
type style = string

const (
	plainText style = ""
	bold      style = "1"
	dim       style = "2"
	red       style = "31"
	green     style = "32"
	yellow    style = "33"
	cyan      style = "36"
	reversed  style = "7"
)

// paint returns a text with the escape sequences of a style.
func (s *Screen) paint(st style, text string) string {
	if s.Colourless {
		st = withoutColours(st)
	}
	if !s.styled || st == plainText || text == "" {
		return text
	}
	return "\x1b[" + st + "m" + text + "\x1b[0m"
}

// withoutColours removes the colours from a style. Smaller parameters are not colours, but bold,
// dim and the like.
func withoutColours(st style) style {
	rest := slices.DeleteFunc(strings.Split(st, ";"), func(parameter string) bool {
		n, _ := strconv.Atoi(parameter)
		return n >= 30
	})
	return strings.Join(rest, ";")
}

func (s *Screen) paintAll(spans []layout.Span) string {
	var b strings.Builder
	for _, span := range spans {
		b.WriteString(s.paint(span.Style, span.Text))
	}
	return b.String()
}

// columns returns the width of the terminal, 0 for a stream.
func (s *Screen) columns() int {
	if s.Columns == nil {
		return 0
	}
	return s.Columns()
}

// rows returns a line in rows of the terminal: the first after first, the others after
// rest. In a stream it is one row.
func (s *Screen) rows(first, rest layout.Span, line ...layout.Span) string {
	width := s.columns()
	if width <= 0 {
		return s.paint(first.Style, first.Text) + s.paintAll(line) + "\n"
	}
	var b strings.Builder
	for i, row := range layout.Wrap(line, width-layout.Columns(first.Text)) {
		if i > 0 {
			first = rest
		}
		b.WriteString(s.paint(first.Style, first.Text) + s.paintAll(row) + "\n")
	}
	return b.String()
}

// gutter puts an edge before every line of a stream.
type gutter struct {
	edge    layout.Span
	prefix  string // the edge as printed
	midLine bool   // inside a line
	afterCR bool   // the last rune was \r
}

func (s *Screen) gutter(text string, st style) gutter {
	return gutter{edge: layout.Span{Text: text, Style: st}, prefix: s.paint(st, text)}
}

// format writes text with prefixes to b. A line that restarts after \r becomes a new line.
func (g *gutter) format(b *bytes.Buffer, text string, paint func(string) string) {
	for text != "" {
		if g.afterCR && text[0] != '\n' && g.midLine {
			b.WriteByte('\n')
			g.midLine = false
		}
		g.afterCR = false
		n := strings.IndexAny(text, "\r\n")
		if n < 0 {
			n = len(text)
		}
		if !g.midLine && (n > 0 || text[0] == '\n') {
			b.WriteString(g.prefix)
			g.midLine = true
		}
		b.WriteString(paint(text[:n]))
		text = text[n:]
		if text == "" {
			return
		}
		if text[0] == '\n' {
			b.WriteByte('\n')
			g.midLine = false
		} else {
			g.afterCR = true
		}
		text = text[1:]
	}
}
