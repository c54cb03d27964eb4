package cli

import (
	"io"
	"os"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// OneLine returns a text on one line without terminal control characters.
func OneLine(text string) string {
	return strings.NewReplacer("\n", "<U+000A>", "\t", "<U+0009>").Replace(headless.Visible(text))
}

// TimeLayout is the layout of times for people.
const TimeLayout = "2006-01-02 15:04"

// TextWidth returns the width of a line of text on stdout, in columns: the terminal's width,
// at most 100.
func TextWidth() int {
	const most = 100
	if width := ScreenWidth(); width > 0 {
		return min(width, most)
	}
	return most
}

// WrapText breaks a text between words.
func WrapText(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines) - 1; n >= 0 && layout.Columns(lines[n])+1+layout.Columns(word) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// WrapLine breaks a line between words if it is wider than width. Without a positive width
// it stays unchanged.
func WrapLine(line string, width int) []string {
	if width <= 0 || layout.Columns(line) <= width {
		return []string{line}
	}
	return WrapText(line, width)
}

// JoinLines joins parts by commas into lines of at most width columns.
func JoinLines(parts []string, width int) (lines []string) {
	for _, p := range parts {
		last := len(lines) - 1
		if last >= 0 && layout.Columns(lines[last]+", "+p) <= width {
			lines[last] += ", " + p
		} else {
			lines = append(lines, p)
		}
	}
	return lines
}

// FitEnd truncates the beginning of a text that is too wide, since the end of a
// path is more informative.
func FitEnd(text string, width int) string {
	runes, over := []rune(text), layout.Columns(text)-width
	if over <= 0 {
		return text
	}
	for over++; over > 0 && len(runes) > 0; runes = runes[1:] { // one more column for "…"
		over -= layout.Columns(string(runes[0]))
	}
	return "…" + string(runes)
}

// Pad adds spaces up to width columns.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-layout.Columns(text), 0))
}

// WriteRows prints rows: for a person with aligned columns in a terminal of that width, and for
// programs, if width is 0, with tabs between them. A long last column has several lines.
func WriteRows(w io.Writer, rows [][]string, width int) error {
	var widest []int
	for _, row := range rows {
		for i, text := range row[:len(row)-1] { // the last column needs no room
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], layout.Columns(text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		last := len(row) - 1
		if width == 0 {
			b.WriteString(strings.Join(row, "\t") + "\n")
			continue
		}
		before := ""
		for i, text := range row[:last] {
			before += Pad(text, widest[i]) + "  "
		}
		indent := layout.Columns(before)
		lines := WrapLine(row[last], max(width-indent, MinColumn))
		b.WriteString(before + strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// MinColumn is the least width of a column with a text of several words.
const MinColumn = 20

// Tilde returns a path with "~" in place of the home directory.
func Tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}

// Indent returns a text with spaces before each line, without terminal control
// characters.
func Indent(text string) string {
	return "    " + strings.ReplaceAll(headless.Visible(strings.TrimSpace(text)), "\n", "\n    ")
}
