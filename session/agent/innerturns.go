package agent

import (
	"context"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// innerTurns are the running inner turns. The zero value is empty.
type innerTurns struct {
	mu      sync.Mutex
	cancels map[string]context.CancelCauseFunc // by caller id
}

// begin returns the context of an inner turn. end must be called when it has ended.
func (c *innerTurns) begin(ctx context.Context, caller string) (innerCtx context.Context, end func()) {
	innerCtx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels == nil {
		c.cancels = map[string]context.CancelCauseFunc{}
	}
	c.cancels[caller] = cancel
	return innerCtx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.cancels, caller)
		cancel(nil)
	}
}

// CancelInner cancels an inner turn, by the caller id of its calls. The turn that it
// belongs to continues. It has no effect if no such turn runs.
func (a *Agent) CancelInner(caller string) {
	a.innerTurns.mu.Lock()
	cancel := a.innerTurns.cancels[caller]
	a.innerTurns.mu.Unlock()
	if cancel != nil {
		cancel(acp.ErrTurnCancelled)
	}
}
