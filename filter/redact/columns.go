package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// columns are the columns of a table whose cells are credentials.
type columns struct {
	separator byte // between the cells of a line, or one of the next two; 0 means no table
	cells     uint8
	count     uint8 // columns with credentials
	at        [maxColumns]struct {
		cell  uint8
		class nameClass
	}
}

// Separators that are more than one byte.
const (
	barSeparator   = '|' // also the line of a drawn table
	tupleSeparator = '(' // of SQL: (1, 'a')
)

const maxColumns = 4

// tableSeparators are the bytes that separate the names of columns, the surest first.
const tableSeparators = "|\t;,"

// beginTable begins a table if the line consists of the names of columns, and one is the
// name of a credential.
func (m *Stream) beginTable(l []byte) {
	const longest = 2000
	if m.columns.separator != 0 || len(l) > longest {
		return
	}
	for _, b := range []byte(tableSeparators) {
		if bytes.IndexByte(l, b) >= 0 || b == barSeparator && bytes.Contains(l, []byte("\u2502")) {
			if b != ',' && b != ';' || !bytes.Contains(l, []byte{b, ' '}) { // else the words of a sentence or a program
				m.columns = namedColumns(l, b)
			}
			return
		}
	}
}

// namedColumns returns the columns with credentials of a line of names.
func namedColumns(l []byte, separator byte) (c columns) {
	c.separator = separator
	names, valid := 0, true
	cells := eachCell(l, separator, func(i, from, to int) {
		name := l[from:to]
		if len(name) == 0 {
			valid = valid && separator == barSeparator && (i == 0 || to >= len(bytes.TrimRight(l, " ")))
			return
		}
		names++
		valid = valid && isColumnName(name)
		if n := classifyName(name); n >= tokenName && c.count < maxColumns && i < 256 {
			c.at[c.count].cell, c.at[c.count].class = uint8(i), n
			c.count++
		}
	})
	if c.cells = uint8(cells); !valid || names < 2 || c.count == 0 || cells > 255 {
		return columns{}
	}
	return c
}

// isColumnName reports whether a cell can be the name of a column: at most three words.
func isColumnName(cell []byte) bool {
	const longest, maxBlanks = 40, 2
	if len(cell) > longest || text.DigitSet[cell[0]] || bytes.Count(cell, []byte(" ")) > maxBlanks {
		return false
	}
	for _, b := range cell {
		if !text.NameSet[b] && b != ' ' {
			return false
		}
	}
	return true
}

// scanRow looks for credentials in the cells of a row. It ends the table at a line with
// another number of cells.
func (m *Stream) scanRow(l []byte) {
	const rule = "-+|=: \u2500\u2502\u253c\u251c\u2524\u255e\u2550\u256a\u2561"
	if len(l) > 0 && len(bytes.Trim(l, rule)) == 0 {
		return
	}
	c := m.columns
	first := len(m.hits)
	cells := eachCell(l, c.separator, func(i, from, to int) {
		for _, column := range c.at[:c.count] {
			if int(column.cell) == i && isBelievable(l[from:to], column.class, quotedForm) {
				m.addHit(from, to, namedSecret)
			}
		}
	})
	if cells != int(c.cells) {
		m.hits = m.hits[:first]
		m.columns = columns{}
	}
}

// eachCell calls do with the index and the bounds of each cell of a line, without blanks and
// quotes around it. It returns the number of cells.
func eachCell(l []byte, separator byte, do func(i, from, to int)) (cells int) {
	at, end := 0, len(l)
	if separator == tupleSeparator {
		at = len(l) - len(bytes.TrimLeft(l, " \t("))
		end = max(at, len(bytes.TrimRight(l, " \t\r);,")))
		separator = ','
	}
	for {
		from, to, next := cellAt(l[:end], at, separator)
		do(cells, from, to)
		cells++
		if next < 0 {
			return cells
		}
		at = next
	}
}

// cellAt returns the bounds of the cell at at, and the index of the next one or -1.
func cellAt(l []byte, at int, separator byte) (from, to, next int) {
	from = at
	for from < len(l) && l[from] == ' ' {
		from++
	}
	at = from
	if from < len(l) && isQuote(l[from]) && separator != barSeparator {
		if end := closingQuote(l, from+1, l[from], false); end < len(l) {
			at = end
		}
	}
	next = -1
	for to = at; to < len(l); to++ {
		if l[to] == separator {
			next = to + 1
			break
		}
		if separator == barSeparator && bytes.HasPrefix(l[to:], []byte("\u2502")) {
			next = to + len("\u2502")
			break
		}
	}
	for to > from && text.SpaceSet[l[to-1]] {
		to--
	}
	from, to = withoutQuotes(l, from, to)
	return from, to, next
}

// scanTuples looks for credentials in the rows of INSERT INTO t (a, b) VALUES (1, 'x'). body
// is the index after the first parenthesis of the rows.
func (m *Stream) scanTuples(l []byte, from, body int) {
	m.columns = m.listedColumns(l[:from+1])
	for ; m.columns.separator != 0; body++ {
		end := tupleEnd(l, body)
		var row Stream
		row.columns = m.columns
		row.scanRow(l[body:end])
		for _, h := range row.hits {
			m.addHit(body+h.from, body+h.to, h.kind)
		}
		open := bytes.IndexByte(l[end:], '(')
		if open < 0 {
			break
		}
		body = end + open
	}
	if bytes.HasSuffix(bytes.TrimRight(l, " \r"), []byte(";")) {
		m.columns = columns{}
	}
}

// tupleEnd returns the index of the parenthesis that ends the tuple at at, or the end of
// the line.
func tupleEnd(l []byte, at int) int {
	for ; at < len(l) && l[at] != ')'; at++ {
		if isQuote(l[at]) {
			if at = closingQuote(l, at+1, l[at], false); at >= len(l) {
				return len(l)
			}
		}
	}
	return at
}

// listedColumns returns the columns with credentials of a list in parentheses at the end of a
// text.
func (m *Stream) listedColumns(l []byte) columns {
	l = bytes.TrimRight(l, " ")
	open := bytes.LastIndexByte(l, '(')
	if open < 0 || len(l) == 0 || l[len(l)-1] != ')' {
		return columns{}
	}
	c := namedColumns(l[open+1:len(l)-1], ',')
	if c.separator != 0 {
		c.separator = tupleSeparator
	}
	return c
}

// scanCopied begins the table of COPY t (a, b) FROM stdin. Its cells are separated by tabs.
func (m *Stream) scanCopied(l []byte, from, _ int) {
	if m.columns = m.listedColumns(l[:from]); m.columns.separator != 0 {
		m.columns.separator = '\t'
	}
}
