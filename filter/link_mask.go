package filter

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Visible is Mask, also for what can be read only where the text is shown: with
// escape sequences in it. Where it finds something there, the text is sanitised.
func (s *Scanner) Visible(text string) (masked string, found []Finding) {
	masked, found = s.Mask(text)
	if s == nil || !strings.ContainsAny(text, "\x1b\b") && !strings.Contains(text, "\u009b") {
		return masked, found
	}
	shown, more := s.Mask(string(Sanitize([]byte(text))))
	if values(more) <= values(found) {
		return masked, found
	}
	return shown, more
}

// values is the number of values.
func values(found []Finding) (n int64) {
	for _, f := range found {
		n += int64(f.Count)
	}
	return n
}

// spool masks what is in a Spool, into a new one.
func (s *Scanner) spool(in *executors.Spool) (*executors.Spool, []Finding, error) {
	out := &executors.Spool{}
	w := bufio.NewWriterSize(out, flushAt)
	var ends []string // of the lines that mask has
	mask := s.begin(func(line []byte) {
		_, _ = w.Write(line) // the writer keeps the error
		_, _ = w.WriteString(ends[0])
		ends = ends[1:]
	})
	lines, err := bufio.NewReaderSize(in.Reader(), maxLine), error(nil)
	for err == nil {
		var line []byte
		line, err = lines.ReadSlice('\n')
		if err == bufio.ErrBufferFull { // longer than any value: it goes on in pieces
			err = nil
		}
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		ends = append(ends, map[bool]string{true: "\n"}[whole])
		mask.line(line)
	}
	found := mask.end()
	if err == io.EOF {
		err = w.Flush()
	}
	if err != nil {
		out.Close()
		return nil, found, err
	}
	return out, found, nil
}

// maxUnended is how much of a line without an end waits for the rest of it.
const maxUnended = 4 << 10

// liveMask masks what a command writes while it runs, as far as whole lines tell:
// what has no end yet waits for it.
type liveMask struct {
	scan *Scanner
	next func(executors.Event)

	mu   sync.Mutex
	rest []byte
}

func (l *liveMask) notify(ev executors.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Output == nil {
		if ev.Exit != nil {
			l.emit(len(l.rest))
		}
		l.next(ev)
		return
	}
	l.rest = append(l.rest, ev.Output...)
	n := bytes.LastIndexAny(l.rest, "\r\n") + 1
	if n == 0 && len(l.rest) > maxUnended {
		n = len(l.rest)
	}
	l.emit(n)
}

// flush passes on what still waits.
func (l *liveMask) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.emit(len(l.rest))
}

// emit passes on the first n bytes of what waits.
func (l *liveMask) emit(n int) {
	if n == 0 {
		return
	}
	text, _ := l.scan.Visible(string(l.rest[:n]))
	l.rest = append(l.rest[:0], l.rest[n:]...)
	l.next(executors.Event{Output: []byte(text)})
}
