package acp

import (
	"io"
	"sync"
	"time"
)

// writer writes all frames to the client, from the goroutine of run: one Write per
// frame, in the order of enqueue.
//
// enqueue never blocks, so that the read loop and a cancel never wait for a
// client that does not read. Senders of session updates first call waitForRoom, which
// may block: that bounds the memory.
type writer struct {
	w     io.Writer
	limit int // queued bytes above which waitForRoom waits
	trace func(Side, []byte)

	wake chan struct{} // holds a token if there is work
	done chan struct{} // closed when the writer has ended

	mu          sync.Mutex
	queue       [][]byte
	queuedBytes int           // of the queue and of the frame that is being written
	roomMade    chan struct{} // closed when queuedBytes falls to limit or below; nil while there is room
	closed      bool          // no further frame is accepted; the queue is still written
	err         error         // of the last Write
}

func newWriter(w io.Writer, limit int, trace func(Side, []byte)) *writer {
	return &writer{w: w, limit: limit, trace: trace, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// enqueue queues frames, including their newlines, in a row. The error is io.ErrClosedPipe
// after close, else the error of an earlier Write.
func (w *writer) enqueue(frames ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return io.ErrClosedPipe
	}
	w.queue = append(w.queue, frames...)
	for _, f := range frames {
		w.queuedBytes += len(f)
	}
	w.signal()
	return nil
}

// stopped reports whether frames are no longer accepted.
func (w *writer) stopped() bool {
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

// maxBacklog is how many times the limit may be queued before the reader also waits.
// Otherwise a peer that sends without reading would fill the memory with answers.
const maxBacklog = 16

// pauseReader makes the reader wait while the queue exceeds maxBacklog times the limit.
func (w *writer) pauseReader(done <-chan struct{}) {
	w.mu.Lock()
	over := w.queuedBytes > maxBacklog*w.limit
	w.mu.Unlock()
	if over {
		w.waitForRoom(func() <-chan struct{} { return done })
	}
}

// waitForRoom waits until the queue is below the limit or done is closed. The caller
// sends its update in both cases: a cancelled turn still has a few.
func (w *writer) waitForRoom(done func() <-chan struct{}) {
	w.mu.Lock()
	if w.queuedBytes <= w.limit || w.closed || w.err != nil {
		w.mu.Unlock()
		return
	}
	if w.roomMade == nil {
		w.roomMade = make(chan struct{})
	}
	roomMade := w.roomMade
	w.mu.Unlock()
	select {
	case <-roomMade:
	case <-done():
	}
}

// run writes until the queue is empty after close, or until the client has
// disconnected. It returns the error of Write.
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

// written subtracts the n bytes of a frame from the queue. After an error of Write it
// drops the queue.
func (w *writer) written(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queuedBytes -= n
	if err != nil {
		w.err = err
		w.queue = nil
	}
	if w.roomMade != nil && (w.queuedBytes <= w.limit || err != nil) {
		close(w.roomMade)
		w.roomMade = nil
	}
}

// close waits at most grace until the queue is written.
func (w *writer) close(grace time.Duration) {
	w.mu.Lock()
	w.closed = true
	if w.roomMade != nil {
		close(w.roomMade)
		w.roomMade = nil
	}
	w.signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(grace):
	}
}
