package overflow

import (
	"bytes"
	"unicode/utf8"
)

const (
	// pieceSize is how many bytes of a text are looked at at once.
	pieceSize = 256 << 10
	// maxRow is how many characters a row has at most.
	maxRow = 2000
	// pieceRows is how many rows of one line are looked at together; what is
	// longer is taken for several lines.
	pieceRows = 32
)

// lines takes a text apart that comes in chunks, in bounded memory. A line is
// given without its ending. One of more than width characters has several rows,
// which count as lines, so that any part of any text has a number.
type lines struct {
	width int
	// take gets a line, or a piece of whole rows of a very long one; the memory
	// is its only until it returns. It reports whether it wants more.
	take func(line []byte) bool

	rest []byte // the beginning of a line
	done bool
}

// feed takes a chunk and reports whether more are wanted.
func (l *lines) feed(chunk []byte) bool {
	for !l.done {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			buf := append(l.rest, chunk...)
			l.rest = buf[:copy(buf, l.split(buf))]
			break
		}
		line := chunk[:i]
		chunk = chunk[i+1:]
		if len(l.rest) > 0 {
			line = append(l.rest, line...)
			l.rest = line[:0]
		}
		l.whole(line)
	}
	return !l.done
}

// end takes the last line, if it has no ending.
func (l *lines) end() {
	if len(l.rest) > 0 && !l.done {
		l.whole(l.rest)
	}
}

// whole gives a line that has come to its end.
func (l *lines) whole(line []byte) {
	line = bytes.TrimSuffix(l.split(line), []byte("\r"))
	if !l.done {
		l.done = !l.take(line)
	}
}

// split gives pieces of a line as long as there is surely more than one, and
// returns what is left.
func (l *lines) split(line []byte) []byte {
	for !l.done && len(line) > pieceRows*l.width*utf8.UTFMax+utf8.UTFMax { // what may lack its end is never split
		n := offset(line, pieceRows*l.width)
		l.done = !l.take(line[:n])
		line = line[n:]
	}
	return line
}

// rows is how many rows a line has.
func rows(line []byte, width int) int {
	if len(line) <= width {
		return 1
	}
	return max(1, (utf8.RuneCount(line)+width-1)/width)
}

// offset is the number of bytes of the first n runes of b.
func offset(b []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(b); n-- {
		if b[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}
