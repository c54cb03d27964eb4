package filter

import (
	"bytes"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxUnendedLine is the longest line without an end, in bytes, that waits for its
// end.
const maxUnendedLine = 4 << 10

// liveMask masks the output of a command while it runs. A line that has not
// ended waits for its end.
type liveMask struct {
	scanner *redact.Scanner
	next    func(executors.Event)

	mu      sync.Mutex
	pending []byte             // the text after the last end of a line
	writer  *redact.LineWriter // nil before the first line
	out     bytes.Buffer       // masked text that is not passed on yet
	goesOn  bool               // the command goes on after its call
}

// LiveMask returns a function that masks the pieces of a running program's output and
// passes them to next. end passes on an unfinished last line.
func LiveMask(scan *redact.Scanner, next func([]byte)) (write func([]byte), end func()) {
	l := &liveMask{scanner: scan, next: func(ev executors.Event) { next(ev.Output) }}
	return func(output []byte) { l.notify(executors.Event{Output: output}) }, l.flush
}

func (l *liveMask) notify(ev executors.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Output == nil {
		if ev.Exit != nil {
			l.end()
		}
		l.goesOn = l.goesOn || ev.Background != nil
		l.next(ev)
		return
	}
	l.pending = append(l.pending, ev.Output...)
	n := bytes.LastIndexAny(l.pending, "\r\n") + 1
	if n == 0 && len(l.pending) > maxUnendedLine {
		n = text.SafeCut(l.pending)
	}
	l.maskPending(n)
	l.passOn()
}

// flush passes on the pending text at the end of the call, unless the command goes on.
func (l *liveMask) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.goesOn {
		l.end()
	}
}

func (l *liveMask) end() {
	l.maskPending(len(l.pending))
	if l.writer != nil {
		l.writer.End()
		l.passOn()
	}
}

// maskPending masks the first n pending bytes.
func (l *liveMask) maskPending(n int) {
	if l.writer == nil {
		l.writer = l.scanner.LineWriter(&l.out)
	}
	l.writer.Line(l.pending[:n])
	l.writer.Release() // a person is waiting: held lines go out even if the end of a key may follow
	l.pending = append(l.pending[:0], l.pending[n:]...)
}

// passOn passes on the masked output.
func (l *liveMask) passOn() {
	if l.out.Len() == 0 {
		return
	}
	l.next(executors.Event{Output: bytes.Clone(l.out.Bytes())})
	l.out.Reset()
}
