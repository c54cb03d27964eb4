package overflow

import (
	"bytes"
	"unicode/utf8"
)

const (
	// pieceSize is how many bytes of a text are processed at once.
	pieceSize = 256 << 10
	// maxRow is how many characters a row has at most.
	maxRow = 2000
	// pieceRows is how many rows of one line are processed together; a longer
	// line counts as several.
	pieceRows = 32
)

// lines splits a text that comes in chunks into lines without their endings, in
// bounded memory. A line of more than width characters has several rows, which
// count as lines, so that any part of any text has a number.
type lines struct {
	width int
	// emit receives a line, or some whole rows of a very long one. It must not
	// keep the slice. It reports whether it wants more.
	emit func(line []byte) bool

	partial []byte // the beginning of a line
	done    bool
}

// feed processes a chunk and reports whether more chunks are wanted.
func (l *lines) feed(chunk []byte) bool {
	for !l.done {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			buf := append(l.partial, chunk...)
			l.partial = buf[:copy(buf, l.split(buf))]
			break
		}
		line := chunk[:i]
		chunk = chunk[i+1:]
		if len(l.partial) > 0 {
			line = append(l.partial, line...)
			l.partial = line[:0]
		}
		l.emitLine(line)
	}
	return !l.done
}

// end processes the last line, if it has no ending.
func (l *lines) end() {
	if len(l.partial) > 0 && !l.done {
		l.emitLine(l.partial)
	}
}

// emitLine passes on a complete line.
func (l *lines) emitLine(line []byte) {
	line = bytes.TrimSuffix(l.split(line), []byte("\r"))
	if !l.done {
		l.done = !l.emit(line)
	}
}

// split passes on pieces of a line as long as there is surely more than one, and
// returns the rest.
func (l *lines) split(line []byte) []byte {
	for !l.done && len(line) > pieceRows*l.width*utf8.UTFMax+utf8.UTFMax { // a text that may lack its end is never split
		n := offset(line, pieceRows*l.width)
		l.done = !l.emit(line[:n])
		line = line[n:]
	}
	return line
}

// rows returns how many rows a line has.
func rows(line []byte, width int) int {
	if len(line) <= width {
		return 1
	}
	return max(1, (utf8.RuneCount(line)+width-1)/width)
}

// offset returns the number of bytes of the first n runes of b.
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
