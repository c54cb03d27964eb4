package acp

import (
	"encoding/json"
	"sync"
)

// results holds the results of our open calls between the read goroutine and the
// callers. The zero value is ready.
type results struct {
	mu sync.Mutex
	of map[uint64]json.RawMessage // by id; nil until the result arrives
}

// expect makes room for the result of a call.
func (r *results) expect(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[uint64]json.RawMessage{}
	}
	r.of[id] = nil
}

// put stores the first result of an open call, and reports whether it did.
func (r *results) put(id uint64, result json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if had, open := r.of[id]; !open || had != nil {
		return false
	}
	r.of[id] = result
	return true
}

// take ends a call and returns its result, nil if there is none.
func (r *results) take(id uint64) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer delete(r.of, id)
	return r.of[id]
}
