package agent

import (
	"context"
	"time"
)

// slowClient is how long progress waits for a client that does not read, before
// it is queued anyway.
const slowClient = time.Second

// lazyTimeout is a context with the timeout slowClient, which begins at the first call of
// Done. An update that need not wait starts no timer, which would wake another thread. It
// is not for concurrent use.
type lazyTimeout struct {
	context.Context
	cancel context.CancelFunc // nil before the first call of Done
}

// Done implements [context.Context].
func (p *lazyTimeout) Done() <-chan struct{} {
	if p.cancel == nil {
		p.Context, p.cancel = context.WithTimeout(p.Context, slowClient)
	}
	return p.Context.Done()
}

// end stops the timer.
func (p *lazyTimeout) end() {
	if p.cancel != nil {
		p.cancel()
	}
}
