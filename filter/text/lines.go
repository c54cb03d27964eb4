package text

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Lines is a text of whole lines, in memory and, when it grows, in a file.
//
// It drops blank lines at both ends and joins consecutive blank lines, since
// removing lines brings blank ones together. It keeps the first error and
// ignores later writes. It is not safe for concurrent use.
type Lines struct {
	spool        *executors.Spool
	buf          []byte // not yet in spool
	count        int    // lines
	size         int64  // bytes
	blankPending bool   // a blank line is written if another line follows
	err          error  // the first error of spool
	feed         *feed  // also gets the lines; nil means none
}

// BufferSize is the number of bytes that are collected before they are written.
const BufferSize = 64 << 10

// NewLines returns an empty text. The caller closes it.
func NewLines() *Lines { return &Lines{spool: &executors.Spool{}} }

// Write adds a line without a line feed.
func (l *Lines) Write(line []byte) {
	if isBlank(line) {
		l.blankPending = l.count > 0
		return
	}
	l.buf = append(append(l.writeBlank(), line...), '\n')
	l.countLine(len(line))
}

// WriteString is Write for a string.
func (l *Lines) WriteString(line string) {
	if len(line) == 0 || mayBeBlank(line[0]) && strings.TrimSpace(line) == "" {
		l.Write(nil)
		return
	}
	l.buf = append(append(l.writeBlank(), line...), '\n')
	l.countLine(len(line))
}

// isBlank reports whether a line has only blanks, including Unicode white space.
func isBlank(line []byte) bool {
	return len(line) == 0 || mayBeBlank(line[0]) && len(bytes.TrimSpace(line)) == 0
}

// mayBeBlank reports whether a blank may begin with b.
func mayBeBlank(b byte) bool { return b <= ' ' || b >= utf8.RuneSelf }

// writeBlank writes the pending blank line and returns the buffer to append to.
func (l *Lines) writeBlank() []byte {
	if l.blankPending {
		l.blankPending = false
		l.buf = append(l.buf, '\n')
		l.countLine(0)
	}
	return l.buf
}

// countLine counts a line of n bytes.
func (l *Lines) countLine(n int) {
	l.count++
	l.size += int64(n) + 1
	if len(l.buf) >= BufferSize {
		l.flush()
	}
}

func (l *Lines) flush() {
	if l.err == nil && len(l.buf) > 0 {
		_, l.err = l.spool.Write(l.buf)
	}
	if l.feed != nil && len(l.buf) > 0 {
		l.buf = l.feed.send(l.buf)
	}
	l.buf = l.buf[:0]
}

// Feed calls do with all lines written from now on, whole and with their line
// feeds. If there are many, do runs on its own goroutine. stop and
// [Lines.EndFeed] end the feed and wait for do; both may be called. do must not
// keep text.
func (l *Lines) Feed(do func(text []byte)) (stop func()) {
	l.feed = &feed{read: do}
	return l.feed.stop
}

// EndFeed passes the last lines to the function of [Lines.Feed] and waits for it.
func (l *Lines) EndFeed() {
	f := l.feed
	l.feed = nil
	if f != nil {
		f.end(l.buf)
		l.flush()
	}
}

// Count returns the number of lines.
func (l *Lines) Count() int { return l.count }

// Size returns the number of bytes.
func (l *Lines) Size() int64 { return l.size }

// Err returns the first error of writing.
func (l *Lines) Err() error { return l.err }

// Spool returns the text, which l still owns.
func (l *Lines) Spool() *executors.Spool {
	l.flush()
	return l.spool
}

// Each calls do with each line, which is valid until do returns. It also returns an error of
// writing, since lines are then missing.
func (l *Lines) Each(do func(line []byte)) error {
	l.flush()
	if err := EachIn(l.spool.Reader(), do); err != nil {
		return err
	}
	return l.err
}

// EachIn calls do with each line of a text, from its beginning. The line is valid until do returns.
func EachIn(text *io.SectionReader, do func(line []byte)) error {
	r := io.NewSectionReader(text, 0, text.Size())
	buf := make([]byte, 0, min(BufferSize, max(text.Size(), 512)))
	for {
		if len(buf) == cap(buf) { // a line longer than the buffer
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		buf = append(buf[:0], EachLine(buf, do)...)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// Close releases the memory and file of l.
func (l *Lines) Close() { l.spool.Close() }
