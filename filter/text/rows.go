package text

import (
	"bytes"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

const (
	// maxRows is how many of the last lines an escape sequence can change. What tools draw again and
	// again is no higher than a terminal.
	maxRows = 60
	// maxRowBytes is the size of all of them. Of larger ones, fewer are held.
	maxRowBytes = 256 << 10
	// maxWaiting limits rows.waiting.
	maxWaiting = 100
)

// rows are the last lines of an output, as a terminal shows them. The cursor moves between them. A line
// that leaves them at the top is final.
//
// Text at the start of a row replaces it, and text in its middle as many characters. A replaced row that
// reported a problem stays as a line of its own, since a tool may print an error between two states of its
// progress. A tool that draws several lines again also repeats its problems and counts them: there only
// problems stay that no later line reports.
type rows struct {
	emit   func(line []byte)
	list   []row
	size   int // of the texts, in bytes
	at     int // the row of the cursor; len(list) is the line after them
	column int // of the cursor in its row, in characters; atEnd is after the last one

	redraws bool     // the cursor moved up: the tool draws several lines again
	top     int      // the highest row to which it moved
	waiting [][]byte // its problems that no line has reported since
	quiet   int      // lines that became final since the cursor moved up
}

// row is a line that may still change.
type row struct {
	text     []byte
	problems [][]byte // replaced texts that reported problems
}

const atEnd = -1

// add adds a whole line at the cursor.
func (r *rows) add(line []byte) {
	r.write(line)
	r.next()
}

// current returns the row of the cursor, which may be a new one.
func (r *rows) current() *row {
	for len(r.list) <= r.at {
		if n := len(r.list); n < cap(r.list) { // with the buffer of an earlier row
			r.list = r.list[:n+1]
		} else {
			r.list = append(r.list, row{})
		}
		r.column = atEnd
	}
	return &r.list[r.at]
}

// next moves the cursor to the start of the next row.
func (r *rows) next() {
	r.current()
	r.at++
	r.column = 0
	n := 0
	if len(r.list) >= 2*maxRows { // many at once, since the others move
		n = len(r.list) - maxRows
	}
	for size := r.size; size > maxRowBytes; n++ {
		size -= len(r.list[n].text)
	}
	if n > 0 {
		r.finish(n)
	}
}

// finish emits the first n rows.
func (r *rows) finish(n int) {
	for i := range n {
		w := &r.list[i]
		for _, p := range w.problems {
			r.emit(p)
		}
		if r.quiet++; len(r.waiting) > 0 {
			r.drop(w.text)
			if r.quiet > maxRows { // that display is complete
				r.emitWaiting()
			}
		}
		r.emit(w.text)
		r.size -= len(w.text)
		w.text, w.problems = w.text[:0], nil
	}
	for i := n; i < len(r.list); i++ { // swap, so that the buffers are used again
		r.list[i-n], r.list[i] = r.list[i], r.list[i-n]
	}
	r.list = r.list[:len(r.list)-n]
	r.at, r.top = max(0, r.at-n), max(0, r.top-n)
}

// end emits all rows, and the problems that none of them reports before those that were drawn again.
func (r *rows) end() {
	for i := range r.list {
		r.drop(r.list[i].text)
	}
	if len(r.waiting) > 0 {
		r.finish(min(r.top, len(r.list)))
		r.emitWaiting()
	}
	r.finish(len(r.list))
}

// drop drops the waiting problems that a line reports.
func (r *rows) drop(line []byte) {
	if len(r.waiting) == 0 {
		return
	}
	key := letters(line)
	r.waiting = slices.DeleteFunc(r.waiting, func(p []byte) bool { return bytes.Contains(key, letters(p)) })
}

func (r *rows) emitWaiting() {
	for _, p := range r.waiting {
		r.emit(p)
	}
	r.waiting = nil
}

// letters returns a line without what a display changes while it waits, and without its counts.
func letters(line []byte) []byte {
	return bytes.Map(func(c rune) rune {
		if unicode.IsLetter(c) {
			return c
		}
		return -1
	}, line)
}

// write writes text at the cursor.
func (r *rows) write(text []byte) {
	w := r.current()
	r.size -= len(w.text)
	switch {
	case r.column == 0:
		r.clear()
		w.text = append(w.text[:0], text...)
	case r.column == atEnd:
		w.text = append(w.text, text...)
	default:
		w.text = overlay(w.text, r.column, text)
		r.column += utf8.RuneCount(text)
		r.size += len(w.text)
		return
	}
	r.column = atEnd
	r.size += len(w.text)
}

// overlay replaces the characters of a line from a column on.
func overlay(line []byte, column int, text []byte) []byte {
	from := runesEnd(line, column)
	to := from + runesEnd(line[from:], utf8.RuneCount(text))
	rest := bytes.Clone(line[to:])
	line = line[:from]
	for n := utf8.RuneCount(line); n < column; n++ {
		line = append(line, ' ')
	}
	return append(append(line, text...), rest...)
}

// runesEnd returns the length of the first n characters of a line.
func runesEnd(line []byte, n int) (end int) {
	for ; n > 0 && end < len(line); n-- {
		_, size := utf8.DecodeRune(line[end:])
		end += size
	}
	return end
}

// clear drops the text of the row of the cursor. It may report a problem.
func (r *rows) clear() {
	w := r.current()
	if len(w.text) > 0 && Important(w.text) {
		if problem := bytes.Clone(w.text); !r.redraws {
			w.problems = append(w.problems, problem)
		} else if r.drop(problem); len(r.waiting) < maxWaiting {
			r.waiting = append(r.waiting, problem)
		}
	}
	w.text = w.text[:0]
}

// erase erases from the cursor to the end of its row.
func (r *rows) erase() {
	w := r.current()
	before := len(w.text)
	switch {
	case r.column == 0:
		r.clear()
		r.column = atEnd
	case r.column > 0:
		w.text = w.text[:runesEnd(w.text, r.column)]
	}
	r.size += len(w.text) - before
}

// eraseLine erases the row of the cursor.
func (r *rows) eraseLine() {
	r.column = 0
	r.erase()
}

// eraseBelow erases all rows below that of the cursor.
func (r *rows) eraseBelow() {
	at, column := r.at, r.column
	w := r.current()
	for r.at = at + 1; r.at < len(r.list); r.at++ {
		r.eraseLine()
		w.problems = append(w.problems, r.list[r.at].problems...)
		r.list[r.at].problems = nil
	}
	r.list = r.list[:at+1]
	r.at, r.column = at, column
}

// move handles an escape sequence that moves the cursor or erases.
func (r *rows) move(seq []byte) {
	if len(seq) < 3 || seq[1] != '[' {
		return
	}
	arg, final := string(seq[2:len(seq)-1]), seq[len(seq)-1]
	n, err := strconv.Atoi(arg)
	if err != nil && arg != "" {
		return
	}
	switch final {
	case 'A', 'F':
		r.moveTo(r.at - max(1, n))
		if !r.redraws || r.at < r.top {
			r.top = r.at
		}
		r.redraws, r.quiet = true, 0
	case 'B', 'E':
		r.moveTo(r.at + max(1, n))
	case 'G':
		r.column = max(1, n) - 1
	case 'C':
		r.column = r.columnNow() + max(1, n)
	case 'D':
		r.column = max(0, r.columnNow()-max(1, n))
	case 'J':
		if n == 0 {
			r.erase()
			r.eraseBelow()
		}
	case 'K':
		switch n {
		case 0:
			r.erase()
		case 2:
			r.eraseLine()
		}
	}
	if final == 'E' || final == 'F' {
		r.column = 0
	}
}

// moveTo moves the cursor to another row, at most maxRows up, and keeps its column.
func (r *rows) moveTo(at int) {
	r.column = r.columnNow()
	r.at = min(max(0, len(r.list)-maxRows, at), len(r.list))
}

// columnNow returns the column of the cursor as a number.
func (r *rows) columnNow() int {
	if r.column == atEnd {
		return utf8.RuneCount(r.current().text)
	}
	return r.column
}

// back handles a backspace, which deletes the last character.
func (r *rows) back() {
	switch w := r.current(); {
	case r.column == atEnd:
		_, n := utf8.DecodeLastRune(w.text)
		w.text = w.text[:len(w.text)-n]
		r.size -= n
	case r.column > 0:
		r.column--
	}
}
