package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// turn is a prompt's place in its session's queue.
type turn struct {
	session *Session
	ctx     context.Context // a turn is begun on one goroutine and run on another
	cancel  context.CancelCauseFunc
	load    bool               // is no prompt's
	before  *turn              // nil for the first
	unrun   []acp.ContentBlock // the prompt that was cancelled before its turn
	done    chan struct{}      // closed when this turn and all before it have given back their places
}

// Begin adds a turn at the end of the queue.
func (s *Session) Begin(ctx context.Context) acp.Turn { return s.begin(ctx, false) }

func (s *Session) begin(ctx context.Context, load bool) *turn {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cancel(errSessionClosed)
	}
	t := &turn{session: s, ctx: ctx, cancel: cancel, load: load, before: s.last, done: make(chan struct{})}
	s.last = t
	s.turns[t] = struct{}{}
	return t
}

// wait waits until all turns before this one have ended.
func (t *turn) wait() error {
	if t.before != nil {
		select {
		case <-t.before.done:
			t.before = nil
		case <-t.ctx.Done():
		}
	}
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	return nil
}

// Run waits for its place and runs the prompt.
func (t *turn) Run(prompt []acp.ContentBlock) (acp.StopReason, error) {
	if err := t.wait(); err != nil {
		t.unrun = prompt
		return "", err
	}
	s := t.session
	s.announce(t.ctx)
	end, moved, err := s.journal.begin(t.ctx, t.cancel)
	if leased, ok := errors.AsType[*store.LeasedError](err); ok {
		return "", fmt.Errorf("a turn of this session runs in another process: send the prompt again when that has ended (%w)", leased)
	}
	if err != nil {
		return "", err
	}
	defer end()
	if moved { // another process went on with the session
		events, err := s.journal.events(t.ctx)
		if err != nil {
			return "", fmt.Errorf("read the session: %w", err)
		}
		s.adopt(t.ctx, s.recall(events))
	}
	reason, err := t.run(prompt)
	s.sayWarnings(t.ctx) // that it could not be saved
	return reason, err
}

// run runs the prompt in its place.
func (t *turn) run(prompt []acp.ContentBlock) (acp.StopReason, error) {
	s := t.session
	s.lookAround()
	s.sayWarnings(t.ctx)
	reason, err := s.answer(t.ctx, prompt)
	if err != nil && t.ctx.Err() != nil { // whatever broke, it broke because of the cancel
		err = context.Cause(t.ctx)
	}
	if _, refused := errors.AsType[*acp.ParamsError](err); refused {
		return "", err // it was no turn
	}
	end := transcript.TurnEnd{Reason: reason}
	switch {
	case errors.Is(err, acp.ErrTurnCancelled), errors.Is(err, acp.ErrClosed):
		end.Reason = acp.StopCancelled
	case err != nil:
		end.Error = err.Error()
	}
	s.journal.record(end)
	if title := s.journal.title(); err == nil && title != s.titled {
		s.titled = title
		s.send(t.ctx, acp.InfoUpdate{Update: acp.UpdateInfo, Title: title, UpdatedAt: s.all.Now().UTC()})
	}
	return reason, err
}

// answer lets the agent answer the prompt, or a command of ours.
func (s *Session) answer(ctx context.Context, prompt []acp.ContentBlock) (reason acp.StopReason, err error) {
	in := agent.Input{Content: prompt}
	if c, rest, ok := commandOf(prompt); ok {
		if c.run != nil {
			s.record(transcript.Prompt{MessageID: s.all.NewID(), Content: prompt, Local: true})
			reply, err := c.run(s, ctx, rest)
			if err != nil {
				return "", err
			}
			if rest != "" && c.hint == "" {
				reply += fmt.Sprintf("\n\nWhat you wrote after /%s was left out: the command takes nothing. Send it again by itself.", c.name)
			}
			if transcript.Attached(prompt) > 0 {
				reply += "\n\n" + agent.CommandTakesNone
			}
			return acp.StopEndTurn, s.runner().Say(ctx, reply)
		}
		in.Instead = c.prompt(rest)
	}
	s.history, reason, err = s.runner().Turn(ctx, s.history, in)
	return reason, err
}

// keep stores a prompt that was cancelled before its turn, after the turns before it.
// No model sees it.
func (t *turn) keep() {
	s := t.session
	if t.unrun == nil {
		return
	}
	end, moved, err := s.journal.begin(context.Background(), func(error) {})
	if err != nil || moved { // another process has the session
		return
	}
	defer end()
	s.record(transcript.Prompt{MessageID: s.all.NewID(), Content: t.unrun, Local: true})
	s.journal.record(transcript.TurnEnd{Reason: acp.StopCancelled})
}

// End frees the place. A turn that was cancelled in the queue is answered at
// once, but the one after it still waits for the one before it.
func (t *turn) End() {
	t.session.mu.Lock()
	delete(t.session.turns, t)
	t.session.mu.Unlock()
	t.cancel(nil)
	if before := t.before; before != nil {
		go func() {
			<-before.done
			t.keep()
			close(t.done)
		}()
		return
	}
	close(t.done)
}
