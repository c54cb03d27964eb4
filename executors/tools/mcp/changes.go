package mcp

import (
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
)

// Pauses before a list is read again. Some servers announce a change whenever their list
// is read, so that reading and announcement would never end.
const (
	// calmTime is the time after a reading in which an announcement makes the pause longer.
	calmTime     = time.Second
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// changes collects a server's announcements that one of its lists has changed. Several
// announcements cause one reading. The zero value is ready.
type changes struct {
	reading sync.Mutex // held while the list is read

	mu      sync.Mutex
	pending bool      // a reading will begin
	last    time.Time // when a reading last began or ended
	pause   time.Duration
}

// nextPause returns the pause before the list is read again, or false if a reading waits
// already.
func (c *changes) nextPause() (pause time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending {
		return 0, false
	}
	c.pending = true
	if time.Since(c.last) > calmTime {
		c.pause = 0
	} else {
		c.pause = min(max(2*c.pause, firstPause), longestPause)
	}
	return c.pause, true
}

// read waits for other readings and runs do, which reads the list.
func (c *changes) read(do func() error) error {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mu.Lock()
	c.pending, c.last = false, time.Now() // this reading has the changes announced so far
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = time.Now()
	}()
	return do()
}

// rereadLater calls read, which reads a list, after a pause.
func (i *instance) rereadLater(c *changes, read func()) {
	pause, ok := c.nextPause()
	if !ok {
		return
	}
	i.spawn(func() {
		if backoff.Sleep(i.ctx, pause) == nil {
			read()
		}
	})
}
