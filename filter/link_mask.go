package filter

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Visible is Mask, and also masks credentials that show only once the text is
// sanitised: those with escape sequences or other control characters in them. If
// it finds one, masked is the sanitised text.
func (s *Scanner) Visible(text string) (masked string, found []Finding) {
	masked, found = s.Mask(text)
	if s == nil || !drawnText(text) {
		return masked, found
	}
	shown, more := s.Mask(sanitized(text))
	if len(more) == 0 || shown == sanitized(masked) {
		return masked, found
	}
	return shown, more
}

// drawnText reports whether a text of several lines looks different in a
// terminal: see drawn.
func drawnText(text string) bool {
	for line := range strings.Lines(text) {
		if drawn(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")) {
			return true
		}
	}
	return false
}

// drawn reports whether a line has control characters besides tabs, so that a
// terminal shows something else than its bytes.
func drawn[T string | []byte](line T) bool {
	for i := range len(line) {
		if b := line[i]; !plain[b] || b == 0xc2 && i+1 < len(line) && line[i+1] >= 0x80 && line[i+1] < 0xa0 {
			return true
		}
	}
	return false
}

// sanitized returns a text without control characters but line feeds and tabs.
// One that has no others stays as it is.
func sanitized(text string) string {
	if !strings.Contains(text, "\r") && !drawnText(text) {
		return text
	}
	clean := string(Sanitize([]byte(text)))
	if !strings.HasSuffix(text, "\n") {
		clean = strings.TrimSuffix(clean, "\n")
	}
	return clean
}

// count counts values that were found apart.
func (m *masking) count(found []Finding) {
	for k := range m.found {
		for _, f := range found {
			if f.Kind == Credentials[k].Kind {
				m.found[k] += f.Count
			}
		}
	}
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
	scan     *Scanner
	w        io.Writer // keeps its error
	mask     *masking
	ends     []string // of the lines that mask has
	returned bool     // the last one is a carriage return
}

// lines begins to mask lines, which go to w.
func (s *Scanner) lines(w io.Writer) *lineMask {
	l := &lineMask{scan: s, w: w}
	l.mask = s.begin(l.pass)
	return l
}

// pass writes a masked line.
func (l *lineMask) pass(line []byte) {
	_, _ = l.w.Write(line)
	_, _ = io.WriteString(l.w, l.ends[0])
	l.ends = l.ends[1:]
}

// line takes lines, or a part of a long one, which has no end. What is overwritten
// in place counts as lines of their own, so that pieces of any size make no difference.
func (l *lineMask) line(line []byte) {
	for len(line) > 0 {
		n, end := len(line), ""
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			n, end = i, string(line[i:i+1])
		}
		if end == "\r" && bytes.HasPrefix(line[n:], []byte("\r\n")) {
			end = "\r\n"
		}
		l.state(line[:n], end)
		line = line[n+len(end):]
	}
}

// state takes a line, or what overwrites one.
func (l *lineMask) state(line []byte, end string) {
	rest := len(line) == 0 && l.returned // of an end
	if l.returned && !rest {
		l.mask.redraw()
	}
	l.returned = end == "\r"
	controls := drawn(line)
	if controls {
		line = l.drawn(line)
	}
	switch {
	case rest && len(l.ends) > 0:
		l.ends[len(l.ends)-1] += end
	case rest || controls:
		_, _ = l.w.Write(line)
		_, _ = io.WriteString(l.w, end)
	default:
		l.ends = append(l.ends, end)
		l.mask.line(line)
	}
}

// drawn masks a line that a terminal shows otherwise. What is seen of it is what goes
// on with the lines before; it takes the place of the line where that would show more.
func (l *lineMask) drawn(line []byte) []byte {
	l.mask.release()
	var shown []byte
	l.mask.next = func(line []byte) { shown = append(append(shown, line...), '\n') }
	clean := Sanitize(line)
	for part := range bytes.Lines(clean) {
		l.mask.line(bytes.TrimSuffix(part, []byte("\n")))
	}
	l.mask.release()
	l.mask.next = l.pass
	masked, found := l.scan.Mask(string(line))
	switch {
	case !bytes.Equal(shown, clean) && !bytes.Equal(shown, Sanitize([]byte(masked))):
		return bytes.TrimSuffix(shown, []byte("\n"))
	case bytes.Equal(shown, clean):
		l.mask.count(found)
	}
	return []byte(masked)
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
	l.lines.line(l.rest[:n])
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
