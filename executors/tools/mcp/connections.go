package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
)

// maxAnswers is how many answers may be in flight to a server on the web. The SDK keeps a
// goroutine and a connection for each. A server that sends requests and accepts no
// answers could otherwise exhaust memory and descriptors.
const maxAnswers = 100

// connections are the connections to one server on the web. They end together.
type connections struct {
	mu     sync.Mutex
	conns  map[*connection]bool
	closed bool

	answers int                 // on their way or waiting for slots
	fewer   chan struct{}       // closed when an answer has arrived; nil unless a stream waits
	slots   *semaphore.Weighted // of maxAnswers: each answer on its way has one
}

func newConnections() *connections { return &connections{slots: semaphore.NewWeighted(maxAnswers)} }

// connection is one of the connections.
type connection struct {
	net.Conn
	owner *connections
}

func (c *connection) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// dialer is the type of http.Transport.DialContext.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dial returns a dialer whose connections belong to l.
func (l *connections) dial(inner dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := inner(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.closed {
			_ = conn.Close()
			return nil, errClosed
		}
		c := &connection{conn, l}
		if l.conns == nil {
			l.conns = map[*connection]bool{}
		}
		l.conns[c] = true
		return c, nil
	}
}

// closeAll ends all connections and thus their requests. No new connection can be made.
func (l *connections) closeAll() {
	l.mu.Lock()
	l.closed = true
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}

// isClosed reports whether the connections were cut.
func (l *connections) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// awaitSlot waits for a slot for an answer. The caller calls arrived to free it.
func (l *connections) awaitSlot(ctx context.Context) (arrived func(), err error) {
	l.mu.Lock()
	l.answers++
	l.mu.Unlock()
	err = l.slots.Acquire(ctx, 1)
	return func() {
		if err == nil {
			l.slots.Release(1)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.answers--
		if l.fewer != nil {
			close(l.fewer)
			l.fewer = nil
		}
	}, err
}

// awaitFewer waits until fewer than maxAnswers answers are in flight, or ctx ends.
func (l *connections) awaitFewer(ctx context.Context) error {
	for {
		l.mu.Lock()
		if l.answers < maxAnswers {
			l.mu.Unlock()
			return nil
		}
		if l.fewer == nil {
			l.fewer = make(chan struct{})
		}
		fewer := l.fewer
		l.mu.Unlock()
		select {
		case <-fewer:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// eventStream is the body of a stream of events. Reading pauses while too many answers
// are in flight.
type eventStream struct {
	io.ReadCloser
	ctx   context.Context // of the request
	owner *connections
}

func (s *eventStream) Read(p []byte) (int, error) {
	if err := s.owner.awaitFewer(s.ctx); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(p)
}

// postedBody returns a copy of the body of a POST; ok is false for another request. The caller
// closes it.
func postedBody(req *http.Request) (body io.ReadCloser, ok bool) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	return body, err == nil
}

// isAnswer reports whether a request carries an answer to a request of the server: a
// message without a method. The SDK writes the method before the content.
func isAnswer(req *http.Request) bool {
	body, ok := postedBody(req)
	if !ok {
		return false
	}
	defer body.Close()
	dec := json.NewDecoder(body)
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	for {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		switch key {
		case "result", "error":
			return true
		case "jsonrpc", "id":
		default:
			return false
		}
		if _, err := dec.Token(); err != nil {
			return false
		}
	}
}
