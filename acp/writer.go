package acp

import (
	"io"
	"sync"
	"time"
)

// writer is the only goroutine that writes to the client: one Write per frame,
// in the order of enqueue.
//
// enqueue never blocks, so that the read loop and a cancel never wait for a
// client that does not read. Who may wait, which is whoever sends session
// updates, calls room first: that bounds the memory.
type writer struct {
	w     io.Writer
	limit int // bytes queued above which room waits
	trace func(Side, []byte)

	wake chan struct{} // has a token when there is something to do
	done chan struct{} // closed when the writer has ended

	mu     sync.Mutex
	queue  [][]byte
	bytes  int           // of queue and of the frame that is being written
	roomy  chan struct{} // closed when bytes falls to limit or below; nil while there is room
	closed bool          // nothing more is accepted; what is queued is still written
	err    error         // the client is gone
}

func newWriter(w io.Writer, limit int, trace func(Side, []byte)) *writer {
	return &writer{w: w, limit: limit, trace: trace, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// enqueue takes a frame, its newline included. Its error is io.ErrClosedPipe
// after close, else what the client's end of the pipe said.
func (w *writer) enqueue(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return io.ErrClosedPipe
	}
	w.queue = append(w.queue, frame)
	w.bytes += len(frame)
	w.signal()
	return nil
}

// gone reports whether nothing is accepted any more.
func (w *writer) gone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed || w.err != nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// backlog is how many times the limit may be queued before the reader waits too:
// a peer that sends on and on without reading would otherwise fill the memory
// with answers.
const backlog = 16

// pause makes the reader wait while far too much is queued.
func (w *writer) pause(done <-chan struct{}) {
	w.mu.Lock()
	over := w.bytes > backlog*w.limit
	w.mu.Unlock()
	if over {
		w.room(done)
	}
}

// room waits until little enough is queued, or done is closed. It does not tell
// which: a turn that was cancelled still sends its last few updates.
func (w *writer) room(done <-chan struct{}) {
	w.mu.Lock()
	if w.bytes <= w.limit || w.closed || w.err != nil {
		w.mu.Unlock()
		return
	}
	if w.roomy == nil {
		w.roomy = make(chan struct{})
	}
	roomy := w.roomy
	w.mu.Unlock()
	select {
	case <-roomy:
	case <-done:
	}
}

// run writes until close and an empty queue, or until the client is gone; then
// it returns what Write said.
func (w *writer) run() error {
	defer close(w.done)
	for {
		w.mu.Lock()
		batch := w.queue
		w.queue = nil
		ended := w.closed && len(batch) == 0
		w.mu.Unlock()
		if ended {
			return nil
		}
		for _, f := range batch {
			if w.trace != nil {
				w.trace(AgentSide, f[:len(f)-1])
			}
			_, err := w.w.Write(f)
			w.written(len(f), err)
			if err != nil {
				return err
			}
		}
		if len(batch) == 0 {
			<-w.wake
		}
	}
}

func (w *writer) written(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes -= n
	if err != nil {
		w.err = err
		w.queue = nil
	}
	if w.roomy != nil && (w.bytes <= w.limit || err != nil) {
		close(w.roomy)
		w.roomy = nil
	}
}

// close lets what is queued be written and waits for it, at most for grace.
func (w *writer) close(grace time.Duration) {
	w.mu.Lock()
	w.closed = true
	if w.roomy != nil {
		close(w.roomy)
		w.roomy = nil
	}
	w.signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(grace):
	}
}
