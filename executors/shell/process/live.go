package process

import (
	"fmt"
	"sync"
	"time"
)

const (
	liveInterval = 25 * time.Millisecond // between two events of one command
	livePiece    = 32 << 10              // bytes of one event
	liveBytes    = 1 << 20               // of one command: a client keeps what it is sent
)

// live hands output on while the command runs: at once, then whatever gathered,
// once every liveInterval. It never makes the command wait, and it ends after
// budget bytes with a line that says so.
type live struct {
	emit func([]byte)  // called from one goroutine; keeps the bytes
	more chan struct{} // one token: there is something pending
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	pending []byte
	budget  int
}

func startLive(budget int, emit func([]byte)) *live {
	l := &live{
		emit: emit, budget: budget,
		more: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go l.run()
	return l
}

// write adds text, which the caller may use again.
func (l *live) write(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.budget < 0 || len(text) == 0 {
		return
	}
	n := runeCut(text, l.budget)
	l.pending = append(l.pending, text[:n]...)
	l.budget -= n
	if n < len(text) {
		l.pending = fmt.Append(l.pending, "\n[… the rest is not shown live …]\n")
		l.budget = -1
	}
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// close hands the rest on and waits until it was taken.
func (l *live) close() {
	close(l.stop)
	<-l.done
}

func (l *live) run() {
	defer close(l.done)
	for {
		select {
		case <-l.more:
		case <-l.stop:
			l.flush()
			return
		}
		l.flush()
		select {
		case <-time.After(liveInterval):
		case <-l.stop:
		}
	}
}

func (l *live) flush() {
	l.mu.Lock()
	text := l.pending
	l.pending = nil // the receiver keeps it
	l.mu.Unlock()
	for len(text) > 0 {
		n := runeCut(text, livePiece)
		l.emit(text[:n:n])
		text = text[n:]
	}
}
