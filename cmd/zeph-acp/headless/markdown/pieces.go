package markdown

import (
	"slices"
	"strings"
)

// Piece is a part of a text in one markup, for documents other than a terminal's.
type Piece struct {
	Text                             string
	Bold, Italic, Code, Struck, Link bool
}

// Pieces returns the pieces of a paragraph, a heading or a cell. The address of a link is a
// separate piece after the link's text.
func Pieces(text string) []Piece { return pieces(inline(text, "")) }

// Cells returns the pieces of the cells of a table's line.
func Cells(line string) (all [][]Piece) {
	for _, row := range cells(line, "") {
		all = append(all, pieces(row))
	}
	return all
}

// IsDelimiter reports whether a line separates the head of a table from its body.
func IsDelimiter(line string) bool {
	return strings.Contains(line, "|") && delimiters.MatchString(line)
}

// pieces returns the markup of a row by the styles of its spans.
func pieces(row Row) (all []Piece) {
	for _, s := range row {
		styles := strings.Split(s.Style, ";")
		all = append(all, Piece{
			Text:   s.Text,
			Bold:   slices.Contains(styles, bold),
			Italic: slices.Contains(styles, italic),
			Code:   slices.Contains(styles, code),
			Struck: slices.Contains(styles, struck),
			Link:   slices.Contains(styles, link),
		})
	}
	return all
}
