package editor

import (
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// tabStop is the distance of tab stops in columns.
const tabStop = 4

// span is a row: a range of the text. The row after a line feed begins one byte after the end
// of its predecessor.
type span struct {
	start, end int
	plain      bool   // shown as it is
	shown      string // otherwise
}

// Rows returns the text in rows of at most that many columns, with tabs as spaces, and the row
// and column of the cursor. It breaks after spaces and between wide characters. A row has one
// column left for the cursor or for a space at which it breaks. A cluster wider than a row is
// a row by itself.
func (e *Editor) Rows(columns int) (rows []string, row, column int) {
	e.columns = columns
	all := e.wrapped()
	rows = make([]string, len(all))
	for i, s := range all {
		if rows[i] = s.shown; s.plain {
			rows[i] = e.text[s.start:s.end]
		}
	}
	row = e.rowOf(e.cursor)
	return rows, row, min(e.columnOf(row, e.cursor), max(columns-1, 0))
}

// wrapped returns the rows of the text, wrapped again where it has changed.
func (e *Editor) wrapped() []span {
	if e.rows == nil || e.rowsColumns != e.columns || e.rowsWidth != e.Width {
		e.rowsColumns, e.rowsWidth = e.columns, e.Width
		e.rows = e.wrap(nil, 0, len(e.text))
	}
	return e.rows
}

// limit returns the columns of a row that text may have.
func (e *Editor) limit() int {
	if e.columns <= 0 {
		return math.MaxInt
	}
	return max(e.columns-1, 1)
}

// wrap appends the rows of whole lines.
func (e *Editor) wrap(rows []span, from, to int) []span {
	limit := e.limit()
	for {
		end := e.lineEnd(from)
		rows = e.wrapLine(rows, from, end, limit)
		if end >= to {
			return rows
		}
		from = end + 1
	}
}

// wrapLine appends the rows of a line.
func (e *Editor) wrapLine(rows []span, from, to, limit int) []span {
	row := span{start: from, plain: true}
	at := 0                    // columns of the row
	opening, openingAt := 0, 0 // the last place to break, and its column
	wide := false              // the last cluster is wide
	add := func(pos int) {
		if row.end = pos; !row.plain {
			row.shown = e.shown(row)
		}
		rows = append(rows, row)
	}
	breakAt := func(pos, columns int) {
		add(pos)
		row, at = span{start: pos, plain: true}, at-columns
	}
	for pos := from; pos < to; {
		end, n := e.cluster(pos, at)
		space := e.text[pos] == ' ' || e.text[pos] == '\t'
		if space && at == limit { // it may have the last column
			breakAt(end, at)
			pos = end
			continue
		}
		if space {
			n = min(n, limit-at)
		}
		n = min(n, limit)
		if isWide := n > 1 && !space; isWide || wide {
			opening, openingAt, wide = pos, at, isWide
		}
		if at+n > limit && opening > row.start {
			breakAt(opening, openingAt)
			row.plain = e.isPlain(row.start, pos)
		}
		if at+n > limit && at > 0 {
			breakAt(pos, at)
		}
		row.plain = row.plain && e.isPlain(pos, end)
		if at, pos = at+n, end; space {
			opening, openingAt = pos, at
		}
	}
	add(to)
	return rows
}

// cluster returns the end of the cluster at pos, and its columns in a row at column at.
func (e *Editor) cluster(pos, at int) (end, columns int) {
	c := e.text[pos]
	if c == '\t' {
		return pos + 1, tabStop - at%tabStop
	}
	if c < utf8.RuneSelf && (pos+1 == len(e.text) || e.text[pos+1] < utf8.RuneSelf) {
		return pos + 1, 1
	}
	cluster, columns := ansi.FirstGraphemeCluster(e.text[pos:], e.Width)
	return pos + len(cluster), columns
}

// isPlain reports whether a range of the text is shown as it is.
func (e *Editor) isPlain(from, to int) bool {
	if to == from+1 {
		return e.text[from] != '\t'
	}
	for _, r := range e.text[from:to] {
		if r == '\t' || hidden(r) {
			return false
		}
	}
	return true
}

// hidden reports whether a character would move the text around it, or break the row.
func hidden(r rune) bool {
	return r >= 0x61c && (unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029')
}

// shown returns a row for the screen, with tabs as spaces and without hidden characters.
func (e *Editor) shown(s span) string {
	var b strings.Builder
	at, limit := 0, e.limit()
	for pos := s.start; pos < s.end; {
		end, n := e.cluster(pos, at)
		if e.text[pos] == '\t' {
			n = min(n, max(limit-at, 1))
			b.WriteString(strings.Repeat(" ", n))
		} else {
			b.WriteString(strings.Map(func(r rune) rune {
				if hidden(r) {
					return -1
				}
				return r
			}, e.text[pos:end]))
		}
		at, pos = at+n, end
	}
	return b.String()
}

// rowOf returns the row of a position.
func (e *Editor) rowOf(pos int) int {
	rows := e.wrapped()
	return sort.Search(len(rows), func(i int) bool { return rows[i].start > pos }) - 1
}

// columnOf returns the column of a position in its row.
func (e *Editor) columnOf(row, pos int) int {
	column, _ := e.measure(row, func(at, _ int) bool { return at < pos })
	return column
}

// measure passes over the clusters of a row while within is true, which is called with the
// position of a cluster and the column after it. It returns the column and the position.
func (e *Editor) measure(row int, within func(pos, after int) bool) (column, pos int) {
	s, limit := e.wrapped()[row], e.limit()
	for pos = s.start; pos < s.end; {
		end, n := e.cluster(pos, column)
		if e.text[pos] == '\t' {
			n = min(n, max(limit-column, 1))
		}
		if !within(pos, column+n) {
			break
		}
		column, pos = column+n, end
	}
	return column, pos
}

// vertically moves the cursor by a row, and reports whether there is one.
func (e *Editor) vertically(step int) bool {
	rows := e.wrapped()
	row := e.rowOf(e.cursor)
	if e.previous != vertical {
		e.goal = e.columnOf(row, e.cursor)
	}
	row += step
	if row < 0 || row >= len(rows) {
		return false
	}
	_, pos := e.measure(row, func(_, after int) bool { return after <= e.goal })
	if pos == rows[row].end && row+1 < len(rows) && rows[row+1].start == pos {
		pos = max(e.prev(pos), rows[row].start)
	}
	e.cursor, e.last = pos, vertical
	return true
}

// staleRows returns the rows of the lines of a range: from first up to, not including, last.
func (e *Editor) staleRows(from, to int) (first, last int) {
	if e.rows == nil {
		return 0, 0
	}
	start, end := e.lineStart(from), e.lineEnd(to)
	first = sort.Search(len(e.rows), func(i int) bool { return e.rows[i].start >= start })
	last = sort.Search(len(e.rows), func(i int) bool { return e.rows[i].start > end })
	return first, last
}

// rewrap wraps the lines of stale rows again, after the text has grown by a number of bytes.
func (e *Editor) rewrap(first, last, grown int) {
	if e.rows == nil {
		return
	}
	from, to := e.rows[first].start, e.rows[last-1].end+grown
	for i := last; i < len(e.rows); i++ {
		e.rows[i].start += grown
		e.rows[i].end += grown
	}
	e.rows = slices.Replace(e.rows, first, last, e.wrap(nil, from, to)...)
}
