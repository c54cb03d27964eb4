package files

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/workbook"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// isZip reports whether a file begins like a ZIP archive, as a workbook does.
func isZip(head []byte) bool { return strings.HasPrefix(string(head), "PK\x03\x04") }

// table collects the lines of sheets until a page is full.
type table struct {
	strings.Builder
	lines, chars int // still wanted
}

// newTable returns a table for the page that a call asks for.
func (t *tools) newTable(in *readInput) *table {
	lines := in.Offset + t.readLines(in) + 1
	return &table{lines: lines, chars: t.cfg.MaxOutputChars + in.Offset*maxLine}
}

// full reports whether the page needs no further lines.
func (b *table) full() bool { return b.lines <= 0 || b.chars <= 0 }

func (b *table) line(format string, args ...any) {
	line := text.WithoutControls(fmt.Sprintf(format, args...))
	b.WriteString(line + "\n")
	b.lines--
	b.chars -= len(line) + 1
}

// row adds a row of cells, after a line with the names of the columns if it is the first.
func (b *table) row(r workbook.Row, left, columns int, first bool) {
	if first {
		names := make([]string, columns)
		for i := range names {
			names[i] = workbook.ColumnName(left + i)
		}
		b.line("\t%s", strings.Join(names, "\t"))
	}
	b.line("%d\t%s", r.Number, strings.Join(r.Cells, "\t"))
}

// showWorkbook shows the sheets of a workbook: the visible ones, or the sheet that the call names.
func (t *tools) showWorkbook(ctx context.Context, d formed) (executors.Result, error) {
	data, err := t.content(ctx, d.stattedTarget, maxDocument)
	if err != nil {
		return executors.Result{}, err
	}
	broken := func(err error) error {
		return executors.Failuref(executors.PermanentFailure, "%s cannot be read as a workbook: %v", d.display, err).
			Hint("Try in bash: soffice --headless --convert-to xlsx --outdir OTHER FILE, and read the new file.")
	}
	w, err := workbook.Open(ctx, data)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return executors.Result{}, broken(err)
	}
	wanted, in, err := chooseSheets(w, d.in.Pages)
	if err != nil {
		return executors.Result{}, executors.Failuref(executors.InvalidParameters, "pages: %v", err).
			Hint(`Name a sheet of %s, with or without a range: "%s!A1:F40".`, d.display, sheetNames(w)[0])
	}
	b := t.newTable(d.in)
	b.line("[workbook %s: %s: %s]", d.display, quantity.Count(len(w.Sheets), "sheet"), strings.Join(sheetNames(w), ", "))
	for _, i := range wanted {
		if ctx.Err() != nil {
			return executors.Result{}, context.Cause(ctx)
		}
		if b.full() {
			break
		}
		if err := b.sheet(ctx, w, i, in); err != nil && ctx.Err() == nil {
			return executors.Result{}, broken(err)
		}
	}
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return t.pageOf(ctx, d.stattedTarget, d.in, b.String(), !b.full())
}

// sheetNames returns the names of the sheets, with a note about hidden ones.
func sheetNames(w *workbook.Workbook) []string {
	const most = 50
	names := []string{}
	for i, s := range w.Sheets {
		if i == most {
			names = append(names, quantity.Count(len(w.Sheets)-most, "more sheet"))
			break
		}
		name := workbook.OneLine(s.Name)
		if s.Hidden {
			name += " (hidden)"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		names = append(names, "it has no sheets")
	}
	return names
}

// sheet adds a range of a sheet.
func (b *table) sheet(ctx context.Context, w *workbook.Workbook, i int, in workbook.Range) error {
	name := workbook.OneLine(w.Sheets[i].Name)
	if dimension := w.Dimension(i); dimension != "" {
		name += ", " + workbook.OneLine(dimension)
	}
	b.line("[sheet %s]", name)
	columns := min(in.Right-in.Left+1, sheetColumns(w.Dimension(i), in))
	rows := 0
	facts, err := w.Rows(i, in, func(r workbook.Row) bool {
		b.row(r, in.Left, max(columns, len(r.Cells)), rows == 0)
		rows++
		return !b.full() && ctx.Err() == nil
	})
	switch {
	case err != nil && rows == 0:
		return err
	case err != nil:
		b.line("[the sheet is damaged here: %v]", err)
	case ctx.Err() != nil || !facts.End:
		return nil
	case rows == 0:
		b.line("[no cells]")
	}
	if facts.Formulas > 0 {
		b.line("[%s; their values are those of the last calculation]", quantity.Count(facts.Formulas, "formula"))
	}
	if len(facts.Merged) > 0 {
		b.line("[merged: %s]", strings.Join(facts.Merged, ", "))
	}
	return nil
}

// sheetColumns returns how many columns of a range a sheet has, at most 100.
func sheetColumns(dimension string, in workbook.Range) int {
	has, err := workbook.ParseRange(dimension)
	if err != nil {
		return 0
	}
	return min(has.Right-in.Left+1, 100)
}

// chooseSheets returns the sheets and the range that pages names, such as "Data", "2", "Data!A1:F40" or "A1:F40".
func chooseSheets(w *workbook.Workbook, pages string) ([]int, workbook.Range, error) {
	var visible []int
	for i, s := range w.Sheets {
		if !s.Hidden {
			visible = append(visible, i)
		}
	}
	if pages == "" {
		return visible, workbook.All, nil
	}
	if i, err := findSheet(w, pages); err == nil {
		return []int{i}, workbook.All, nil
	}
	name, cells, ok := cutLast(pages, "!")
	if !ok { // a range of the first sheet
		in, err := workbook.ParseRange(pages)
		if err != nil || len(visible) == 0 {
			return nil, in, fmt.Errorf("no sheet is named %q", pages)
		}
		return visible[:1], in, nil
	}
	i, err := findSheet(w, strings.Trim(name, "'"))
	if err != nil {
		return nil, workbook.All, err
	}
	in, err := workbook.ParseRange(cells)
	return []int{i}, in, err
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// findSheet returns the index of the sheet with this name or, if none has it, this number.
func findSheet(w *workbook.Workbook, name string) (int, error) {
	for i, s := range w.Sheets {
		if strings.EqualFold(s.Name, name) {
			return i, nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && n >= 1 && n <= len(w.Sheets) {
		return n - 1, nil
	}
	return 0, fmt.Errorf("no sheet is named %q", name)
}

// maxFields bounds the fields of a line of a file with separated values.
const maxFields = 1 << 20

// readRange shows a range of a file with separated values. It reports false for other files and ranges.
func (t *tools) readRange(ctx context.Context, at stattedTarget, in *readInput) (executors.Result, bool, error) {
	extension := extensionOf(at.abs)
	if extension != "csv" && extension != "tsv" {
		return executors.Result{}, false, nil
	}
	_, cells, ok := cutLast(in.Pages, "!")
	if !ok {
		cells = in.Pages
	}
	cut, err := workbook.ParseRange(cells)
	if err != nil {
		return executors.Result{}, true, executors.Failuref(executors.InvalidParameters, "pages: %v", err).Hint("Name cells of %s as A1:F40.", at.display)
	}
	f, err := t.loadNotebook(ctx, at)
	if err != nil {
		return executors.Result{}, true, err
	}
	if err := checkText(at.target, f); err != nil {
		return executors.Result{}, true, err
	}
	content := f.text
	separator := separatorOf(content, extension)
	for line := range strings.Lines(content) { // the reader keeps each field of a record
		if strings.Count(line, string(separator)) > maxFields {
			return executors.Result{}, true, executors.Failuref(executors.PermanentFailure, "%s has a line of more than %s", at.display,
				quantity.Count(maxFields, "field")).Hint("Try in bash: cut -d, -f1-20 FILE.")
		}
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(content, executors.ByteOrderMark)))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = separator, -1, true, true
	b := t.newTable(in)
	b.line("[table %s]", at.display)
	first := true
	for number := 1; number <= cut.Bottom && !b.full(); number++ {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil || ctx.Err() != nil {
			return executors.Result{}, true, executors.Failuref(executors.PermanentFailure, "%s: %v", at.display, err)
		}
		if number < cut.Top {
			continue
		}
		row := workbook.Row{Number: number}
		for i := cut.Left; i <= min(cut.Right, len(record)); i++ {
			row.Cells = append(row.Cells, workbook.OneLine(record[i-1]))
		}
		b.row(row, cut.Left, min(len(row.Cells), 100), first)
		first = false
	}
	res, err := t.pageOf(ctx, at, in, b.String(), !b.full())
	return res, true, err
}

// separatorOf returns the separator that is most frequent in the first line.
func separatorOf(content, extension string) rune {
	if extension == "tsv" {
		return '\t'
	}
	line, _, _ := strings.Cut(content, "\n")
	best := ','
	for _, r := range ";\t|" {
		if strings.Count(line, string(r)) > strings.Count(line, string(best)) {
			best = r
		}
	}
	return best
}
