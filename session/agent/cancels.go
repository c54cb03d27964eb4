package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
)

// cancels are the functions that end parts of a session's work, by id. The zero value is empty.
type cancels struct {
	mu   sync.Mutex
	ends map[string]func()
}

// add adds the function that ends some work.
func (c *cancels) add(id string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[string]func(){}
	}
	c.ends[id] = end
}

// remove is called when the work has ended.
func (c *cancels) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ends, id)
}

// find returns the function that ends the work, nil if no such work runs.
func (c *cancels) find(id string) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ends[id]
}

// begin returns the context of some work, which ends with cause if the work is cancelled. end must be
// called when the work has ended.
func (c *cancels) begin(ctx context.Context, id string, cause error) (workCtx context.Context, end func()) {
	workCtx, cancel := context.WithCancelCause(ctx)
	c.add(id, func() { cancel(cause) })
	return workCtx, func() {
		c.remove(id)
		cancel(nil)
	}
}

// CancelSubturn cancels a subturn, by the caller id of its calls. The turn that it
// belongs to continues. It has no effect if no such turn runs.
func (a *Agent) CancelSubturn(caller string) {
	if end := a.subturns.find(caller); end != nil {
		end()
	}
}

// beginSubturn returns the context of a subturn; see cancels.begin.
func (a *Agent) beginSubturn(ctx context.Context, caller string) (subCtx context.Context, end func()) {
	return a.subturns.begin(ctx, caller, acp.ErrTurnCancelled)
}

// errCallCancelled is the cause that ends a single call. Its turn goes on.
var errCallCancelled = errors.New("the user cancelled this call")

// CallCancel returns the function that cancels a tool call, by its id in the client. The turn continues.
// It is nil if the call does not run.
func (a *Agent) CallCancel(id string) func() { return a.calls.find(id) }

// TerminalCancel returns the function that ends the command of a terminal, by the terminal's id, and waits
// a short time for its end. It is nil if no such command runs in the background.
func (a *Agent) TerminalCancel(id string) func() { return a.terminals.find(id) }

// execute runs the call, and once more if its input was changed. The error is errCallCancelled if the
// client has cancelled this call alone.
func (r *runningCall) execute(ctx context.Context) (executors.Result, error) {
	turnCtx := ctx
	if r.CancelsCalls && !r.silent {
		var end func()
		ctx, end = r.sessionTurn().calls.begin(ctx, r.call.ID, errCallCancelled)
		defer end()
		r.cancellable = true
	}
	res, err := r.Chain.Execute(ctx, r.call)
	res, err = r.repeatRewritten(ctx, res, err)
	if err == nil && r.canReformat(res) {
		res, err = r.repeatReformatted(ctx, res)
		res, err = r.repeatRewritten(ctx, res, err)
	}
	if err != nil && ctx.Err() != nil && turnCtx.Err() == nil {
		res.Failed, err = true, errCallCancelled
	}
	return res, err
}
