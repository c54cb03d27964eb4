package text

import (
	"bytes"
	"io"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Lines is a text of whole lines, in memory and, when it grows, in a file. It
// has no blank line at its begin or its end and no two in a row, since where
// lines are taken out of a text, blank ones meet. It keeps the first error and
// drops what comes after. It is not for concurrent use.
type Lines struct {
	spool *executors.Spool
	buf   []byte // not yet in spool
	n     int    // lines
	size  int64  // bytes
	blank bool   // a blank line waits for what follows it
	err   error
	also  *feed // gets the lines too; nil for none
}

// BufferSize is how much is collected before it is written.
const BufferSize = 64 << 10

// NewLines makes an empty text. The caller closes it.
func NewLines() *Lines { return &Lines{spool: &executors.Spool{}} }

// Write adds a line, which must have no line end in it.
func (l *Lines) Write(line []byte) {
	if len(line) == 0 || line[0] <= ' ' && len(bytes.TrimSpace(line)) == 0 {
		l.blank = l.n > 0
		return
	}
	l.buf = append(append(l.endBlank(), line...), '\n')
	l.added(len(line))
}

// WriteString is Write.
func (l *Lines) WriteString(line string) {
	if len(line) == 0 || line[0] <= ' ' && strings.TrimSpace(line) == "" {
		l.Write(nil)
		return
	}
	l.buf = append(append(l.endBlank(), line...), '\n')
	l.added(len(line))
}

// endBlank writes the blank line that waits, and gives where the next one goes.
func (l *Lines) endBlank() []byte {
	if l.blank {
		l.blank = false
		l.buf = append(l.buf, '\n')
		l.added(0)
	}
	return l.buf
}

// added counts a line of n bytes.
func (l *Lines) added(n int) {
	l.n++
	l.size += int64(n) + 1
	if len(l.buf) >= BufferSize {
		l.flush()
	}
}

func (l *Lines) flush() {
	if l.err == nil && len(l.buf) > 0 {
		_, l.err = l.spool.Write(l.buf)
	}
	if l.also != nil && len(l.buf) > 0 {
		l.buf = l.also.take(l.buf)
	}
	l.buf = l.buf[:0]
}

// Feed has do called with all lines that are written from here on, whole and with
// their ends, on a goroutine of its own if they are many. It ends with [Lines.EndFeed]
// or stop, which waits for do and may be called after EndFeed too. do must not
// keep the text.
func (l *Lines) Feed(do func(text []byte)) (stop func()) {
	l.also = &feed{lines: do}
	return l.also.stop
}

// EndFeed passes the last lines to what Feed was given, and waits for it.
func (l *Lines) EndFeed() {
	f := l.also
	l.also = nil
	if f != nil {
		f.end(l.buf)
		l.flush()
	}
}

// Count is the number of lines.
func (l *Lines) Count() int { return l.n }

// Size is the number of bytes.
func (l *Lines) Size() int64 { return l.size }

// Err is the first error of writing.
func (l *Lines) Err() error { return l.err }

// Spool gives the text, which remains the Lines's own.
func (l *Lines) Spool() *executors.Spool {
	l.flush()
	return l.spool
}

// Each calls do with each line, which is valid until do returns.
func (l *Lines) Each(do func(line []byte)) error {
	l.flush()
	r := l.spool.Reader()
	buf := make([]byte, 0, min(BufferSize, max(l.size, 512)))
	for {
		if len(buf) == cap(buf) { // a line longer than that
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

// Close gives memory and file back.
func (l *Lines) Close() { l.spool.Close() }
