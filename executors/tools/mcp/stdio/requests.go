package stdio

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxOpenRequests is how many requests of the server may wait for their answers. The SDK keeps
// a goroutine for each, so a server that sends requests and reads no answers would
// otherwise fill the memory.
const maxOpenRequests = 100

// openRequests holds the requests of the server whose answers are not written yet. The zero
// value is ready.
type openRequests struct {
	mu    sync.Mutex
	ids   map[jsonrpc.ID]bool
	fewer chan struct{} // closed when an answer was written; nil if the reader does not wait
}

// add adds a request of the server. It waits while there are maxOpenRequests others, and
// reports false if end is closed first. Other messages need no room.
func (a *openRequests) add(m jsonrpc.Message, end <-chan struct{}) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return true
	}
	for {
		fewer := a.tryAdd(r.ID)
		if fewer == nil {
			return true
		}
		select {
		case <-fewer:
		case <-end:
			return false
		}
	}
}

// tryAdd adds an id. If there is no room, it returns a channel that is closed when there
// may be some.
func (a *openRequests) tryAdd(id jsonrpc.ID) (fewer <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ids) >= maxOpenRequests && !a.ids[id] {
		if a.fewer == nil {
			a.fewer = make(chan struct{})
		}
		return a.fewer
	}
	if a.ids == nil {
		a.ids = map[jsonrpc.ID]bool{}
	}
	a.ids[id] = true
	return nil
}

// answered removes the request that m answers.
func (a *openRequests) answered(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ids, r.ID)
	if a.fewer != nil {
		close(a.fewer)
		a.fewer = nil
	}
}
