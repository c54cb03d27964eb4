package mcp

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
)

// reopeningStream is the body of a server's stream of events that is opened again when it ends.
//
// Proxies end a stream on which nothing happens, often after a minute. The SDK opens it
// again, but drops the whole server after a few streams without an event.
type reopeningStream struct {
	io.ReadCloser                               // of the open stream
	ctx           context.Context               // of all of them
	open          func() (io.ReadCloser, error) // opens the next stream
	began         time.Time                     // of the open one
	shortStreams  int                           // streams in a row that ended soon
	inEvent       bool                          // an event has begun and not ended
	hasIDs        bool                          // events have ids, by which the SDK resumes
}

const (
	// shortAge is the age up to which the end of a stream counts as too early.
	shortAge = 10 * time.Second
	// maxShort is the maximum number of such streams in a row. Then no more are opened,
	// since the server does not use them.
	maxShort = 5
)

// Read reads from the stream that is open. If the stream ends between two events, and the SDK
// cannot resume it, Read opens the next one.
func (s *reopeningStream) Read(p []byte) (int, error) {
	for {
		n, err := s.ReadCloser.Read(p)
		if n > 0 {
			s.hasIDs = s.hasIDs || bytes.Contains(p[:n], []byte("id:"))
			s.inEvent = !bytes.HasSuffix(p[:n], []byte("\n\n")) && !bytes.HasSuffix(p[:n], []byte("\r\n\r\n"))
			return n, nil // an error is returned again
		}
		if err == nil {
			continue
		}
		if s.hasIDs || s.inEvent || !s.reopen() {
			return 0, err
		}
	}
}

// reopen opens the next stream after a pause, and reports whether it is open. After too
// many short ones it waits for the end of ctx.
func (s *reopeningStream) reopen() bool {
	if s.shortStreams++; time.Since(s.began) > shortAge {
		s.shortStreams = 1
	}
	if s.shortStreams > maxShort {
		<-s.ctx.Done()
	}
	if backoff.Sleep(s.ctx, time.Second<<(s.shortStreams-1)) != nil {
		return false
	}
	next, err := s.open()
	if err != nil {
		return false
	}
	_ = s.ReadCloser.Close() // it has ended
	s.ReadCloser, s.began = next, time.Now()
	return true
}
