package workbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Range is a part of a sheet: columns and rows from 1, both ends included.
type Range struct{ Left, Top, Right, Bottom int }

const (
	maxColumns = 16384
	maxRows    = 1 << 20
)

// All is the whole of a sheet.
var All = Range{1, 1, maxColumns, maxRows}

// ParseRange parses "A1:F40", "B2", "A:C" or "3:9".
func ParseRange(s string) (Range, error) {
	from, to, ok := strings.Cut(strings.ReplaceAll(s, "$", ""), ":")
	if !ok {
		to = from
	}
	left, top, err := parseRef(from)
	right, bottom, err2 := parseRef(to)
	if err != nil || err2 != nil || (left == 0) != (right == 0) || (top == 0) != (bottom == 0) {
		return Range{}, fmt.Errorf("%q is not a range such as A1:F40", s)
	}
	r := Range{min(left, right), min(top, bottom), max(left, right), max(top, bottom)}
	if r.Right == 0 {
		r.Left, r.Right = 1, maxColumns
	}
	if r.Bottom == 0 {
		r.Top, r.Bottom = 1, maxRows
	}
	return r, nil
}

// parseRef parses the name of a cell, a column or a row. A part that is missing is 0.
func parseRef(s string) (column, row int, err error) {
	s = strings.ToUpper(strings.TrimSpace(s))
	i := 0
	for ; i < len(s) && s[i] >= 'A' && s[i] <= 'Z'; i++ {
		if column = column*26 + int(s[i]-'A') + 1; column > maxColumns {
			return 0, 0, fmt.Errorf("%q is beyond the last column", s)
		}
	}
	if i < len(s) {
		if row, err = strconv.Atoi(s[i:]); err != nil || row < 1 || row > maxRows || s[i] == '+' {
			return 0, 0, fmt.Errorf("%q is not a cell", s)
		}
	}
	if s == "" {
		return 0, 0, fmt.Errorf("a cell is missing")
	}
	return column, row, nil
}

// ColumnName returns the letters of a column.
func ColumnName(column int) string {
	var b []byte
	for ; column > 0; column = (column - 1) / 26 {
		b = append(b, byte('A'+(column-1)%26))
	}
	slices.Reverse(b)
	return string(b)
}

// Row is a row of a sheet with its cells, from the first column of the range. Empty rows are left out.
type Row struct {
	Number int
	Cells  []string
}

// Facts are what a sheet says besides its cells. Rows sets them as far as it reads.
type Facts struct {
	Formulas int      // cells of the range with a formula
	Merged   []string // ranges of cells that are one, at most ten
	End      bool     // the sheet was read to its end
}

// Rows calls f with the rows of a range until f returns false.
func (w *Workbook) Rows(sheet int, in Range, f func(Row) bool) (Facts, error) {
	var facts Facts
	if w.Sheets[sheet].part == "" {
		facts.End = true
		return facts, nil
	}
	if err := w.loadShared(); err != nil {
		return facts, err
	}
	s := scanner{w: w, in: in, facts: &facts, f: f}
	err := w.walk(w.Sheets[sheet].part, maxPart, s.element)
	facts.End = err == nil && !s.stopped
	return facts, err
}

// Dimension returns the range of a sheet's cells according to the file; it may be empty or wrong.
func (w *Workbook) Dimension(sheet int) string {
	dimension := ""
	if w.Sheets[sheet].part == "" {
		return ""
	}
	_ = w.walk(w.Sheets[sheet].part, maxPart, func(e element) error {
		switch e.name {
		case "dimension":
			dimension = e.attr("ref")
			return errEnough
		case "sheetData":
			return errEnough
		}
		return nil
	})
	return dimension
}

// scanner reads the elements of a sheet.
type scanner struct {
	w       *Workbook
	in      Range
	facts   *Facts
	f       func(Row) bool
	stopped bool // by f

	row, column int // of the current cell
	cells       []string
	kind, style string
	inValue     bool
	inFormula   bool
	value       strings.Builder
	formula     strings.Builder
	texts       runs
}

func (s *scanner) element(e element) error {
	switch e.name {
	case "row":
		return s.atRow(e)
	case "c":
		s.atCell(e)
	case "v":
		s.inValue = !e.end
	case "f":
		s.inFormula = !e.end
		if !e.end && s.contains() {
			s.facts.Formulas++
		}
	case "mergeCell":
		if ref := e.attr("ref"); !e.end && len(s.facts.Merged) < 10 && ref != "" {
			s.facts.Merged = append(s.facts.Merged, ref)
		}
	case "":
		if s.inValue {
			s.value.WriteString(e.text)
		}
		if s.inFormula && s.contains() {
			s.formula.WriteString(e.text)
		}
		s.texts.add(e, &s.value)
	default:
		s.texts.add(e, &s.value)
	}
	return nil
}

func (s *scanner) contains() bool {
	return s.row >= s.in.Top && s.row <= s.in.Bottom && s.column >= s.in.Left && s.column <= s.in.Right
}

func (s *scanner) atRow(e element) error {
	if !e.end {
		s.row++
		if n, err := strconv.Atoi(e.attr("r")); err == nil && n > 0 && n <= maxRows {
			s.row = n
		}
		s.column, s.cells = 0, nil
		return nil
	}
	if len(s.cells) > 0 && !s.f(Row{s.row, s.cells}) {
		s.stopped = true
		return errEnough
	}
	return nil
}

func (s *scanner) atCell(e element) {
	if !e.end {
		s.column++
		if column, _, err := parseRef(e.attr("r")); err == nil && column > 0 {
			s.column = column
		}
		s.kind, s.style = e.attr("t"), e.attr("s")
		s.value.Reset()
		s.formula.Reset()
		s.texts = runs{}
		return
	}
	if !s.contains() {
		return
	}
	text := s.text()
	if text == "" && s.formula.Len() > 0 {
		text = "=" + s.formula.String()
	}
	if text == "" {
		return
	}
	for len(s.cells) <= s.column-s.in.Left {
		s.cells = append(s.cells, "")
	}
	s.cells[s.column-s.in.Left] = OneLine(text)
}

// text returns the value of the current cell.
func (s *scanner) text() string {
	value := s.value.String()
	switch s.kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(s.w.shared) {
			return s.w.shared[i]
		}
		return ""
	case "str", "inlineStr":
		return unescape(value)
	case "b":
		if isTrue(value) {
			return "TRUE"
		}
		return "FALSE"
	case "e", "d":
		return value
	}
	return s.w.number(strings.TrimSpace(value), s.style)
}

// OneLine returns the text of a cell as a field of a line with tabs, cut if it is long.
func OneLine(text string) string {
	text = strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\r", " ⏎ ", "\t", " ").Replace(strings.TrimRight(text, "\r\n"))
	if len(text) <= maxCell {
		return text
	}
	n := 0
	for i := range text {
		if n++; n > maxCell {
			return text[:i] + " […" + quantity.Count(len(text)-i, "more byte") + "]"
		}
	}
	return text
}
