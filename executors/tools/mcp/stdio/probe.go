package stdio

import (
	"cmp"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// probe answers the request server/discover if the server does not, so that the client
// continues with initialize. The zero value works.
type probe struct {
	delay time.Duration // how long it waits; 0 means probeTimeout

	mu     sync.Mutex
	id     jsonrpc.ID
	timer  *time.Timer
	answer chan jsonrpc.Message // holds the error in place of a missing response
}

const methodDiscover = "server/discover"

// probeTimeout is the wait for the server's response. Some older servers answer no
// request before initialize.
const probeTimeout = 5 * time.Second

// sent starts the wait if m is the request.
func (p *probe) sent(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || r.Method != methodDiscover {
		return
	}
	p.stop()
	answer := p.timeoutError()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id = r.ID
	p.timer = time.AfterFunc(cmp.Or(p.delay, probeTimeout), func() {
		answer <- &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the server did not answer"}}
	})
}

// answered ends the wait if m is the response.
func (p *probe) answered(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Response)
	p.mu.Lock()
	awaited := ok && p.timer != nil && r.ID == p.id
	p.mu.Unlock()
	if awaited {
		p.stop()
	}
}

// timeoutError returns a channel that receives an error in place of the response after
// probeTimeout.
func (p *probe) timeoutError() chan jsonrpc.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answer == nil {
		p.answer = make(chan jsonrpc.Message, 2) // one each for the request and its repetition
	}
	return p.answer
}

func (p *probe) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}
