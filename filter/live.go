package filter

import (
	"bytes"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxUnended is the longest line without an end, in bytes, that waits for its
// end.
const maxUnended = 4 << 10

// liveMask masks the output of a command while it runs. A line that has not
// ended waits for its end.
type liveMask struct {
	scan *redact.Scanner
	next func(executors.Event)

	mu    sync.Mutex
	rest  []byte
	lines *redact.LineWriter
	out   bytes.Buffer
}

// LiveMask returns a function that masks the pieces of a running program's output and
// passes them to next. end passes on an unfinished last line.
func LiveMask(scan *redact.Scanner, next func([]byte)) (write func([]byte), end func()) {
	l := &liveMask{scan: scan, next: func(ev executors.Event) { next(ev.Output) }}
	return func(text []byte) { l.notify(executors.Event{Output: text}) }, l.flush
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
		n = text.SafeCut(l.rest)
	}
	l.take(n)
	l.emit()
}

// flush passes on all that waits.
func (l *liveMask) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

func (l *liveMask) end() {
	l.take(len(l.rest))
	if l.lines != nil {
		l.lines.End()
		l.emit()
	}
}

// take masks the first n waiting bytes.
func (l *liveMask) take(n int) {
	if l.lines == nil {
		l.lines = l.scan.LineWriter(&l.out)
	}
	l.lines.Line(l.rest[:n])
	l.lines.Release() // a person is waiting: held lines go out even if the end of a key may follow
	l.rest = append(l.rest[:0], l.rest[n:]...)
}

// emit passes on the masked output.
func (l *liveMask) emit() {
	if l.out.Len() == 0 {
		return
	}
	l.next(executors.Event{Output: bytes.Clone(l.out.Bytes())})
	l.out.Reset()
}
