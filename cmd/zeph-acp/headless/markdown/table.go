package markdown

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

const (
	gap        = 2 // columns between the cells of a table
	narrowCell = 6 // a table whose cells are narrower is shown as lists
)

// table prints a table, with wrapped cells. If the terminal is too narrow for it, each
// row is a list of its cells, with the headings.
func (s *Stream) table(b block) {
	var rows [][]Row
	for i, line := range b.text {
		if i != 1 { // the delimiters
			style := ""
			if i == 0 {
				style = bold
			}
			row := cells(line, style)
			for j := range row {
				row[j] = s.shown(row[j])
			}
			rows = append(rows, row)
		}
	}
	n := len(rows[0])
	for i, r := range rows {
		for len(r) < n {
			r = append(r, nil)
		}
		rows[i] = r[:n]
	}
	width := s.columns - 2*b.quote - layout.Columns(b.indent)
	widths, ok := fit(rows, width)
	if !ok {
		s.records(b, rows)
		return
	}
	right := rightAligned(b.text[1])
	for i, r := range rows {
		s.tableRow(b, r, widths, right)
		if i == 0 {
			var rule []string
			for _, w := range widths {
				rule = append(rule, strings.Repeat("─", w))
			}
			s.printIn(b.quote, Row{{Text: b.indent}, {Text: strings.Join(rule, strings.Repeat(" ", gap)), Style: dim}})
		}
	}
}

// cells returns the cells of a line of a table. A bar after a backslash or in code does not
// separate them.
func cells(line, style string) []Row {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var all []Row
	var cell strings.Builder
	inCode := false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			i++
			cell.WriteByte('|')
			continue
		case line[i] == '`':
			inCode = !inCode && strings.Contains(line[i+1:], "`")
		case line[i] == '|' && !inCode:
			all = append(all, inline(strings.TrimSpace(cell.String()), style))
			cell.Reset()
			continue
		}
		cell.WriteByte(line[i])
	}
	return append(all, inline(strings.TrimSpace(cell.String()), style))
}

// fit returns the widths of the columns, and false if they would be too narrow.
func fit(rows [][]Row, width int) ([]int, bool) {
	widths := make([]int, len(rows[0]))
	total := gap * (len(widths) - 1)
	for i := range widths {
		for _, r := range rows {
			widths[i] = max(widths[i], length(r[i]))
		}
		total += widths[i]
	}
	for total > width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= narrowCell {
			return nil, false
		}
		widths[widest]--
		total--
	}
	return widths, true
}

func length(row Row) int {
	n := 0
	for _, s := range row {
		n += layout.Columns(s.Text)
	}
	return n
}

// rightAligned reports which columns the delimiters of a table align right.
func rightAligned(line string) (all []bool) {
	for _, c := range strings.Split(strings.Trim(line, " |"), "|") {
		c = strings.TrimSpace(c)
		all = append(all, strings.HasSuffix(c, ":") && !strings.HasPrefix(c, ":"))
	}
	return all
}

// tableRow prints one row of a table.
func (s *Stream) tableRow(b block, cells []Row, widths []int, right []bool) {
	var wrapped [][]Row
	height := 0
	for i, c := range cells {
		wrapped = append(wrapped, layout.Wrap(c, max(widths[i], 2)))
		height = max(height, len(wrapped[i]))
	}
	for line := range height {
		row := Row{{Text: b.indent}}
		pad := 0
		for i, cell := range wrapped {
			var part Row
			if line < len(cell) {
				part = cell[line]
			}
			after := widths[i] - length(part)
			if i < len(right) && right[i] {
				pad, after = pad+max(after, 0), 0
			}
			if len(part) > 0 {
				row = append(append(row, layout.Span{Text: strings.Repeat(" ", pad)}), part...)
				pad = 0
			}
			pad += after + gap
		}
		s.printIn(b.quote, row)
	}
}

// records prints a table as a list for each of its rows.
func (s *Stream) records(b block, rows [][]Row) {
	for _, r := range rows[1:] {
		for i, cell := range r {
			first := b.indent + "  "
			if i == 0 {
				first = b.indent + "• "
			}
			line := append(slices.Clone(rows[0][i]), layout.Span{Text: ": "})
			s.wrapIn(b.quote, append(line, cell...), first, b.indent+"  ")
		}
	}
}
