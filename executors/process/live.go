package process

import (
	"fmt"
	"sync"
	"time"
)

const (
	liveInterval = 25 * time.Millisecond // between two events of one program
	maxLiveEvent = 32 << 10              // bytes of one event
	maxLiveBytes = 1 << 20               // of one program: clients keep all the output that they receive
)

// live passes output on while the program runs: the first text at once, then
// once every liveInterval. The program never waits for it. After maxBytes
// it writes a line that says so, and stops.
type live struct {
	emit func([]byte)  // called from one goroutine; may keep the bytes
	wake chan struct{} // holds one token while text is pending
	stop chan struct{}
	done chan struct{}

	mu        sync.Mutex
	pending   []byte
	bytesLeft int // until the limit; negative after it was reached
}

func startLive(maxBytes int, emit func([]byte)) *live {
	l := &live{
		emit: emit, bytesLeft: maxBytes,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go l.run()
	return l
}

// write adds text. It does not keep the bytes.
func (l *live) write(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytesLeft < 0 || len(text) == 0 {
		return
	}
	n := runeCut(text, l.bytesLeft)
	l.pending = append(l.pending, text[:n]...)
	l.bytesLeft -= n
	if n < len(text) {
		l.pending = fmt.Append(l.pending, "\n[… the rest is not shown live …]\n")
		l.bytesLeft = -1
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// close emits the rest and waits until emit has returned.
func (l *live) close() {
	close(l.stop)
	<-l.done
}

// run passes output on, at most once in each liveInterval, until stop is closed.
func (l *live) run() {
	defer close(l.done)
	for {
		select {
		case <-l.wake:
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
		n := runeCut(text, maxLiveEvent)
		l.emit(text[:n:n])
		text = text[n:]
	}
}
