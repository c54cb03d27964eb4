package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// fail ends the use of the server, with the reason.
func (s *Server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	close(s.ended)
	go s.piped.End(endGrace)
}

// Ended is closed when the server can no longer be used.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// errClosed is the reason of an end that was asked for.
var errClosed = errors.New("closed")

// Loaded reports whether the server has loaded the project.
func (s *Server) Loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

// Err returns why the server ended by itself; nil if it did not.
func (s *Server) Err() error {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	switch {
	case err == nil, errors.Is(err, errClosed):
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE), errors.Is(err, jsonrpc2.ErrClosed):
		err = errors.New("it ended")
	}
	select { // its last words
	case <-s.stderrDone:
	case <-time.After(endGrace):
	}
	s.mu.Lock()
	last := s.lastStderr
	s.mu.Unlock()
	if last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// shutdown asks the server to exit, and waits a moment: many servers then exit immediately.
func (s *Server) shutdown() {
	if !isClosed(s.ready) || isClosed(s.ended) {
		return
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		ctx, cancel := context.WithTimeout(context.Background(), endGrace)
		defer cancel()
		if s.conn.Call(ctx, "shutdown", nil, nil) == nil {
			s.notify("exit", nil)
		}
	}()
	select {
	case <-asked:
	case <-s.ended:
	case <-time.After(endGrace): // it does not read
	}
}

// Close ends the server and all its processes, and waits for that.
func (s *Server) Close() {
	s.shutdown()
	s.fail(errClosed)
	s.piped.End(endGrace)
	_ = s.conn.Close()
	<-s.readEnded // from now on no work begins
	s.work.Wait()
	s.piped.Release()
}
