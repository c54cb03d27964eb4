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

// maxAnswers is how many answers may be on their way to a server on the web. The SDK keeps
// a goroutine and a connection for each, so a server that sends requests and accepts no
// answers would otherwise take all memory and descriptors.
const maxAnswers = 100

// lines are the connections to one server on the web. They end together.
type lines struct {
	mu    sync.Mutex
	conns map[*lineConn]bool
	over  bool

	answers int                 // on their way or waiting for places
	fewer   chan struct{}       // closed when one has arrived; nil unless a stream waits
	places  *semaphore.Weighted // of maxAnswers: each answer on its way has one
}

func newLines() *lines { return &lines{places: semaphore.NewWeighted(maxAnswers)} }

// lineConn is one of the connections.
type lineConn struct {
	net.Conn
	of *lines
}

func (c *lineConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// dialer is the type of http.Transport.DialContext.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dial returns a dialer whose connections belong to l.
func (l *lines) dial(inner dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := inner(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.over {
			_ = conn.Close()
			return nil, errClosed
		}
		c := &lineConn{conn, l}
		if l.conns == nil {
			l.conns = map[*lineConn]bool{}
		}
		l.conns[c] = true
		return c, nil
	}
}

// cut ends all connections, and so their requests. None can follow.
func (l *lines) cut() {
	l.mu.Lock()
	l.over = true
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}

// ended reports whether the connections were cut.
func (l *lines) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// answering waits for a place for an answer, which has it until the function arrived is
// called.
func (l *lines) answering(ctx context.Context) (arrived func(), err error) {
	l.mu.Lock()
	l.answers++
	l.mu.Unlock()
	err = l.places.Acquire(ctx, 1)
	return func() {
		if err == nil {
			l.places.Release(1)
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

// wait waits until fewer than maxAnswers answers are on their way, or ctx ends.
func (l *lines) wait(ctx context.Context) error {
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

// stream is the body of a stream of events. It is not read on while too many answers are
// on their way.
type stream struct {
	io.ReadCloser
	ctx context.Context // of the request
	of  *lines
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.of.wait(s.ctx); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(p)
}

// isAnswer reports whether a request carries an answer to a request of the server: a
// message without a method. The SDK writes the method before the content.
func isAnswer(req *http.Request) bool {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
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
