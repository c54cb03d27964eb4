package acp

import (
	"encoding/json"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// openCalls are our requests that the client has not answered. The zero value is ready.
type openCalls struct {
	mu      sync.Mutex
	last    uint64                 // ids start at 1: some peers treat 0 as null
	waiting map[uint64]chan answer // by id
}

// answer is the client's answer to a call: a result, or a fault.
type answer struct {
	result json.RawMessage
	fault  *jsonrpc2.Error
}

// add opens a call. Its answer arrives in the channel.
func (c *openCalls) add() (id uint64, answered <-chan answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[uint64]chan answer{}
	}
	c.last++
	waiting := make(chan answer, 1)
	c.waiting[c.last] = waiting
	return c.last, waiting
}

// settle ends a call with its answer, and reports whether the call was open.
func (c *openCalls) settle(id uint64, a answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting, open := c.waiting[id]
	if open {
		delete(c.waiting, id)
		waiting <- a
	}
	return open
}

// forget ends a call whose answer is no longer needed.
func (c *openCalls) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}
