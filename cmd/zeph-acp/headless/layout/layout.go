// Package layout measures text in the columns of a terminal and wraps it.
//
// Start with [Wrap]. The text must be free of control characters other than tabs, see
// [ExpandTabs]. The package counts a wide character as two columns and a combining one as
// zero; it does not join emoji sequences, which terminals show in different ways.
package layout

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Span is a piece of a line in one style.
type Span struct {
	Text  string
	Style string // parameters of SGR, such as "1;31"; empty means plain
}

// Columns returns the width of a text.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// lastNarrow is the last code point before which all printable ones have one column.
const lastNarrow = 0x2ff

// runeColumns returns the width of a character.
func runeColumns(r rune) int {
	switch {
	case r < ' ', r == 0x7f:
		return 0
	case r <= lastNarrow:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// tabStop is the distance of tab stops in columns, as terminals have it.
const tabStop = 8

// ExpandTabs replaces the tabs of a line by spaces up to the next tab stop.
func ExpandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	at := 0
	for _, r := range line {
		if r == '\t' {
			n := tabStop - at%tabStop
			b.WriteString(strings.Repeat(" ", n))
			at += n
			continue
		}
		b.WriteRune(r)
		at += runeColumns(r)
	}
	return b.String()
}

// Cut returns the beginning of a text that fits in the columns, with "…" in place of the
// rest.
func Cut(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}
	at := 0
	for i, r := range text {
		if at += runeColumns(r); at > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// Wrap divides a line into lines of at most columns. It breaks at spaces, which it drops
// there, and between wide characters. A longer word is divided. The result has at least
// one line.
func Wrap(line []Span, columns int) [][]Span {
	w := wrapper{columns: max(columns, 2)}
	for _, word := range words(line) {
		w.add(word)
	}
	return append(w.lines, w.line)
}

// word is a text without a place to break, after spaces.
type word struct {
	spaces, text   []Span
	before, length int // columns of spaces and text
}

type wrapper struct {
	columns int
	lines   [][]Span
	line    []Span
	at      int // columns of line
}

// add appends a word, on a new line where it does not fit.
func (w *wrapper) add(next word) {
	switch {
	case w.at+next.before+next.length <= w.columns:
		w.append(next.spaces, next.before)
	case len(next.text) == 0: // spaces at the end of the text
		return
	case w.at > 0:
		w.newLine()
	case next.before < w.columns: // an indented word that is too long
		w.append(next.spaces, next.before)
	}
	for w.at+next.length > w.columns {
		head, rest, n := split(next.text, w.columns-w.at)
		if n == 0 && w.at > 0 {
			w.newLine()
			continue
		}
		w.append(head, n)
		w.newLine()
		next.text, next.length = rest, next.length-n
	}
	w.append(next.text, next.length)
}

// append adds spans to the line, joined with the last one if the style is the same.
func (w *wrapper) append(spans []Span, columns int) {
	for _, s := range spans {
		if n := len(w.line); n > 0 && w.line[n-1].Style == s.Style {
			w.line[n-1].Text += s.Text
		} else if s.Text != "" {
			w.line = append(w.line, s)
		}
	}
	w.at += columns
}

func (w *wrapper) newLine() {
	w.lines = append(w.lines, w.line)
	w.line, w.at = nil, 0
}

// split divides a word after at most so many columns, but after one character if the
// limit is smaller than that.
func split(text []Span, limit int) (head, rest []Span, columns int) {
	for i, s := range text {
		for at, r := range s.Text {
			n := runeColumns(r)
			if columns+n > limit {
				head = append(head, Span{s.Text[:at], s.Style})
				rest = append([]Span{{s.Text[at:], s.Style}}, text[i+1:]...)
				return head, rest, columns
			}
			columns += n
		}
		head = append(head, s)
	}
	return head, nil, columns
}

// words divides a line where it may be broken.
func words(line []Span) []word {
	var all []word
	var current word
	end := func() {
		if len(current.spaces)+len(current.text) > 0 {
			all = append(all, current)
		}
		current = word{}
	}
	last := 0 // columns of the last character of the word; 0 if it is empty
	for _, s := range line {
		from := 0 // of the piece that is not yet in the word
		take := func(to int) {
			if piece := s.Text[from:to]; piece != "" && piece[0] == ' ' {
				current.spaces = append(current.spaces, Span{piece, s.Style})
			} else if piece != "" {
				current.text = append(current.text, Span{piece, s.Style})
			}
			from = to
		}
		for i, r := range s.Text {
			n := runeColumns(r)
			switch {
			case r == ' ':
				if take(i); len(current.text) > 0 {
					end()
				}
				current.before++
				take(i + 1)
				last = 0
				continue
			case last > 0 && n > 0 && (n == 2 || last == 2):
				take(i)
				end()
			}
			current.length += n
			if n > 0 {
				last = n
			}
		}
		take(len(s.Text))
	}
	end()
	return all
}
