package mcp

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/backoff"
)

// standing is the body of a server's stream of events that is opened again when it ends.
//
// Proxies end a stream on which nothing happens, often after a minute. The SDK opens it
// again, but after a few times without an event it gives up the whole server.
type standing struct {
	io.ReadCloser                               // of the open stream
	ctx           context.Context               // of all of them
	open          func() (io.ReadCloser, error) // opens the next stream
	began         time.Time                     // of the open one
	short         int                           // streams in a row that ended soon
	inside        bool                          // an event has begun and not ended
	ids           bool                          // events have ids, by which the SDK resumes
}

const (
	// soon is the age up to which the end of a stream counts as too early.
	soon = 10 * time.Second
	// mostShort is the number of such streams in a row after which none is opened any
	// more: the server uses none.
	mostShort = 5
)

func (s *standing) Read(p []byte) (int, error) {
	for {
		n, err := s.ReadCloser.Read(p)
		if n > 0 {
			s.ids = s.ids || bytes.Contains(p[:n], []byte("id:"))
			s.inside = !bytes.HasSuffix(p[:n], []byte("\n\n")) && !bytes.HasSuffix(p[:n], []byte("\r\n\r\n"))
			return n, nil // an error is returned again
		}
		if err == nil {
			continue
		}
		if s.ids || s.inside || !s.again() {
			return 0, err
		}
	}
}

// again opens the next stream after a pause, and reports whether it is open. After too
// many short ones it waits for the end of ctx.
func (s *standing) again() bool {
	if s.short++; time.Since(s.began) > soon {
		s.short = 1
	}
	if s.short > mostShort {
		<-s.ctx.Done()
	}
	if backoff.Sleep(s.ctx, time.Second<<(s.short-1)) != nil {
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
