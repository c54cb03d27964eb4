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

// lineMask masks lines, and passes them on with the ends that they had.
type lineMask struct {
	mask *masking
	ends []string // of the lines that mask has
}

// lines begins to mask lines, which go to w.
func (s *Scanner) lines(w io.Writer) *lineMask {
	l := &lineMask{}
	l.mask = s.begin(func(line []byte) {
		_, _ = w.Write(line) // the writer keeps the error
		_, _ = io.WriteString(w, l.ends[0])
		l.ends = l.ends[1:]
	})
	return l
}

// line takes a line, or a part of a long one, which has no end.
func (l *lineMask) line(line []byte) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	l.ends = append(l.ends, map[bool]string{true: "\n"}[whole])
	l.mask.line(line)
}

// spool masks what is in a Spool, into a new one.
func (s *Scanner) spool(in *executors.Spool) (*executors.Spool, []Finding, error) {
	out := &executors.Spool{}
	w := bufio.NewWriterSize(out, flushAt)
	lines := s.lines(w)
	from, err := bufio.NewReaderSize(in.Reader(), maxLine), error(nil)
	var rest []byte // of a long line
	for err == nil {
		var line []byte
		line, err = from.ReadSlice('\n')
		line = append(rest, line...)
		n := len(line)
		if err == bufio.ErrBufferFull { // it goes on in pieces
			n, err = seam(line), nil
		}
		lines.line(line[:n])
		rest = append(rest[:0], line[n:]...)
	}
	found := lines.mask.end()
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

// liveMask masks what a command writes while it runs, as far as whole lines and
// those before them tell: what has no end yet waits for it.
type liveMask struct {
	scan *Scanner
	next func(executors.Event)

	mu    sync.Mutex
	rest  []byte
	lines *lineMask
	out   bytes.Buffer
}

func (l *liveMask) notify(ev executors.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Output == nil {
		if ev.Exit != nil {
			l.end()
		}
		l.next(ev)
		return
	}
	l.rest = append(l.rest, ev.Output...)
	n := bytes.LastIndexAny(l.rest, "\r\n") + 1
	if n == 0 && len(l.rest) > maxUnended {
		n = seam(l.rest)
	}
	l.take(n)
	l.emit()
}

// flush passes on what still waits.
func (l *liveMask) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

func (l *liveMask) end() {
	l.take(len(l.rest))
	if l.lines != nil {
		l.lines.mask.end()
		l.emit()
	}
}

// take masks the first n bytes of what waits.
func (l *liveMask) take(n int) {
	if l.lines == nil {
		l.lines = l.scan.lines(&l.out)
	}
	for line := range bytes.Lines(l.rest[:n]) {
		if bytes.IndexByte(line, escape) >= 0 {
			text, _ := l.scan.Visible(string(line))
			line = []byte(text)
		}
		l.lines.line(line)
	}
	l.lines.mask.release() // a person waits for it: only the end of a key might tell more
	l.rest = append(l.rest[:0], l.rest[n:]...)
}

// emit passes on what is masked.
func (l *liveMask) emit() {
	if l.out.Len() == 0 {
		return
	}
	l.next(executors.Event{Output: bytes.Clone(l.out.Bytes())})
	l.out.Reset()
}
