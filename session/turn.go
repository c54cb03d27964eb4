package session

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
)

// turn is a prompt's place in its session's queue.
type turn struct {
	session *Session
	ctx     context.Context // a turn is begun on one goroutine and run on another
	cancel  context.CancelCauseFunc
	before  *turn         // nil for the first
	done    chan struct{} // closed when this turn and all before it have given back their places
}

// Begin takes a place at the end of the queue.
func (s *Session) Begin(ctx context.Context) acp.Turn {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &turn{session: s, ctx: ctx, cancel: cancel, before: s.last, done: make(chan struct{})}
	s.last = t
	s.turns[t] = struct{}{}
	return t
}

// Run waits for its place and runs the prompt.
func (t *turn) Run(prompt []acp.ContentBlock) (acp.StopReason, error) {
	if t.before != nil {
		select {
		case <-t.before.done:
			t.before = nil
		case <-t.ctx.Done():
		}
	}
	if t.ctx.Err() != nil {
		return "", context.Cause(t.ctx)
	}
	s := t.session
	history, reason, err := s.agent.Turn(t.ctx, s.history, prompt)
	s.history = history
	if err != nil && t.ctx.Err() != nil { // whatever broke, it broke because of the cancel
		err = context.Cause(t.ctx)
	}
	return reason, err
}

// End gives the place back. A turn that was cancelled in the queue is answered at
// once, but the one after it still waits for the one before it.
func (t *turn) End() {
	t.session.mu.Lock()
	delete(t.session.turns, t)
	t.session.mu.Unlock()
	t.cancel(nil)
	if before := t.before; before != nil {
		go func() { <-before.done; close(t.done) }()
		return
	}
	close(t.done)
}
