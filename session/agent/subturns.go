package agent

import (
	"context"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// subturns are the running subturns. The zero value is empty.
type subturns struct {
	mu      sync.Mutex
	cancels map[string]context.CancelCauseFunc // by caller id
}

// begin returns the context of a subturn. end must be called when it has ended.
func (c *subturns) begin(ctx context.Context, caller string) (subCtx context.Context, end func()) {
	subCtx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels == nil {
		c.cancels = map[string]context.CancelCauseFunc{}
	}
	c.cancels[caller] = cancel
	return subCtx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.cancels, caller)
		cancel(nil)
	}
}

// CancelSubturn cancels a subturn, by the caller id of its calls. The turn that it
// belongs to continues. It has no effect if no such turn runs.
func (a *Agent) CancelSubturn(caller string) {
	a.subturns.mu.Lock()
	cancel := a.subturns.cancels[caller]
	a.subturns.mu.Unlock()
	if cancel != nil {
		cancel(acp.ErrTurnCancelled)
	}
}
