package agent

import (
	"context"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// children are the inner turns that run, by their caller ids. The zero value is empty.
type children struct {
	mu      sync.Mutex
	cancels map[string]context.CancelCauseFunc
}

// begin returns the context of an inner turn. end must be called when it has ended.
func (c *children) begin(ctx context.Context, caller string) (own context.Context, end func()) {
	own, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels == nil {
		c.cancels = map[string]context.CancelCauseFunc{}
	}
	c.cancels[caller] = cancel
	return own, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.cancels, caller)
		cancel(nil)
	}
}

// CancelInner cancels an inner turn, by the caller id of its calls. The turn that it
// belongs to goes on. It has no effect if no such turn runs.
func (a *Agent) CancelInner(caller string) {
	a.inner.mu.Lock()
	cancel := a.inner.cancels[caller]
	a.inner.mu.Unlock()
	if cancel != nil {
		cancel(acp.ErrTurnCancelled)
	}
}
