package overflow

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// contextRows is how many rows before and after a match are shown.
const contextRows = 2

// search shows the rows in which a match begins, with the rows around them.
type search struct {
	re      *pattern.Pattern
	stopped func() bool // the call has ended

	offset int // rows before the searched ones
	limit  int // matching rows; 0 means as many as fit
	room   int // characters
	width  int

	out      strings.Builder
	row      int                 // rows seen
	hits     int                 // matching rows shown
	shown    int                 // the last row that is shown
	trailing int                 // further rows to show after a match
	before   [contextRows][]byte // the last rows; row n is at n%contextRows
	nextHit  int                 // the first matching row that is no longer shown
}

// add searches a line, in rows of s.width. It reports whether more lines are wanted.
func (s *search) add(line []byte) bool {
	if len(line) <= s.width {
		return s.addRow(line, s.row >= s.offset && s.re.Match(line, s.stopped))
	}
	next := 0 // where the next match begins, -1 if there is none
	if s.row+rows(line, s.width) > s.offset {
		next = s.re.FindFrom(line, 0, s.stopped)
	}
	for at := 0; at < len(line) && !s.stopped(); {
		end := at + offset(line[at:], s.width)
		hit := next >= 0 && (next < end || end == len(line))
		if hit && end < len(line) {
			next = s.re.FindFrom(line, end, s.stopped)
		}
		if !s.addRow(line[at:end], hit && s.row >= s.offset) {
			return false
		}
		at = end
	}
	return !s.stopped()
}

// addRow processes the next row and reports whether more rows are wanted.
func (s *search) addRow(row []byte, hit bool) bool {
	s.row++
	switch {
	case hit && !s.showHit(row):
		s.nextHit = s.row
		return false
	case !hit && s.trailing > 0:
		s.trailing--
		if !s.printRow(s.row, '-', row) {
			s.trailing = 0
		}
	}
	kept := &s.before[s.row%contextRows]
	*kept = append((*kept)[:0], row...)
	return true
}

// showHit adds a matching row with those before it, as far as they fit.
func (s *search) showHit(row []byte) bool {
	if s.limit > 0 && s.hits == s.limit {
		return false
	}
	chars := rowChars(s.row, row)
	first := s.row
	for first-1 > max(s.shown, s.row-contextRows-1) {
		more := rowChars(first-1, s.before[(first-1)%contextRows])
		if chars+more+len(gap) > s.room {
			break
		}
		chars += more
		first--
	}
	if s.shown > 0 && first > s.shown+1 {
		chars += len(gap)
	}
	if chars > s.room {
		return false
	}
	if s.shown > 0 && first > s.shown+1 {
		s.out.WriteString(gap)
		s.room -= len(gap)
	}
	for n := first; n < s.row; n++ {
		s.printRow(n, '-', s.before[n%contextRows])
	}
	s.printRow(s.row, ':', row)
	s.hits++
	s.trailing = contextRows
	return true
}

// gap marks rows that are left out.
const gap = "--\n"

func rowChars(n int, row []byte) int { return len(strconv.Itoa(n)) + 2 + utf8.RuneCount(row) + 1 }

// printRow writes row n, and reports whether it fits.
func (s *search) printRow(n int, mark byte, row []byte) bool {
	chars := rowChars(n, row)
	if chars > s.room {
		return false
	}
	s.room -= chars
	s.shown = n
	fmt.Fprintf(&s.out, "%d%c %s\n", n, mark, validUTF8(row))
	return true
}

// String returns the hits, with a line about how to continue.
func (s *search) String() string {
	from := ""
	if s.offset > 0 {
		from = fmt.Sprintf(" after line %d", s.offset)
	}
	switch {
	case s.nextHit > 0:
		return fmt.Sprintf("%s[%s%s; there are more: continue with offset %d]", s.out.String(),
			quantity.CountGrouped(s.hits, "matching line"), from, s.nextHit-1)
	case s.hits > 0:
		return fmt.Sprintf("%s[%s%s; the text ends at line %d]", s.out.String(),
			quantity.CountGrouped(s.hits, "matching line"), from, s.row)
	}
	return fmt.Sprintf("[no line matches%s; the text ends at line %d]", from, s.row)
}
