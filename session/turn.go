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

// turn is the place of a prompt in its session's queue.
type turn struct {
	session *Session
	ctx     context.Context // a turn begins on one goroutine and runs on another
	cancel  context.CancelCauseFunc
	number  int                // in the order of the queue
	load    bool               // a load or a rewind, not a prompt
	inbox   agent.Inbox        // the texts that the user adds
	added   *agent.Addition    // the text that this prompt added to another turn; nil if it added none
	before  *turn              // nil for the first
	unrun   []acp.ContentBlock // the prompt that was cancelled before its turn
	done    chan struct{}      // closed when this turn and all earlier ones have ended
}

// Begin appends a turn to the queue. If the prompt is the command to steer, its text
// joins the running turn at once.
func (s *Session) Begin(ctx context.Context, prompt []acp.ContentBlock) acp.Turn {
	added := s.steerBy(prompt)
	t := s.begin(ctx, false)
	t.added = added
	return t
}

func (s *Session) begin(ctx context.Context, load bool) *turn {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cancel(errSessionClosed)
	}
	s.begun++
	t := &turn{session: s, ctx: ctx, cancel: cancel, number: s.begun, load: load, before: s.last, done: make(chan struct{})}
	s.last = t
	s.turns[t] = struct{}{}
	return t
}

// wait waits until all earlier turns have ended.
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

// Run waits for the earlier turns and runs the prompt.
func (t *turn) Run(prompt []acp.ContentBlock) (reason acp.StopReason, err error) {
	defer func() { t.closeInbox(err) }()
	if t.added != nil && t.added.Wait(t.ctx) == nil {
		return acp.StopEndTurn, nil
	}
	if err := t.wait(); err != nil {
		t.unrun = prompt
		return "", err
	}
	s := t.session
	s.announce(t.ctx)
	s.lookAgain() // before the lease, since the database may still be opening
	err = t.hold(func(end func(...transcript.Event)) (err error) {
		reason, err = t.run(prompt, end)
		if s.journal.storeError() != nil { // with the lease given up, nothing else may be added to the log
			s.sayWarnings(t.ctx) // the warning that it could not be saved
		}
		return err
	})
	return reason, err
}

// hold calls do while this process holds the lease of the session. do may call end to
// release the lease early, with the last events of the turn.
func (t *turn) hold(do func(end func(...transcript.Event)) error) error {
	s := t.session
	end, moved, err := s.journal.begin(t.ctx, t.cancel)
	if leased, ok := errors.AsType[*store.LeasedError](err); ok {
		return fmt.Errorf("a turn of this session runs in another process: send the prompt again when that has ended (%w)", leased)
	}
	if err != nil {
		return err
	}
	defer end()
	if moved { // another process has continued the session
		events, err := s.journal.events(t.ctx)
		if err != nil {
			return fmt.Errorf("read the session: %w", err)
		}
		s.adopt(t.ctx, s.recall(events))
	}
	return do(end)
}

// run runs the prompt once its turn has come, and passes the last event to end.
func (t *turn) run(prompt []acp.ContentBlock, end func(...transcript.Event)) (acp.StopReason, error) {
	s := t.session
	s.queueLoss()
	s.recoverFiles(t.ctx)
	s.sayWarnings(t.ctx)
	reason, err := s.answer(t.ctx, prompt, &t.inbox)
	if err != nil && t.ctx.Err() != nil { // a failure after a cancel is a consequence of the cancel
		err = context.Cause(t.ctx)
	}
	if _, refused := errors.AsType[*acp.ParamsError](err); refused {
		return "", err // the prompt was not processed as a turn
	}
	s.sayWarnings(t.ctx) // before the turn's end, so that a replay shows them in this turn
	last := transcript.TurnEnd{Reason: reason}
	switch {
	case errors.Is(err, acp.ErrTurnCancelled), errors.Is(err, acp.ErrClosed):
		last.Reason = acp.StopCancelled
	case err != nil:
		last.Error = err.Error()
	}
	end(last)
	if title := s.journal.title(); err == nil && title != s.titled {
		s.titled = title
		s.send(t.ctx, acp.InfoUpdate{Update: acp.UpdateInfo, Title: title, UpdatedAt: s.all.Now().UTC()})
	}
	return reason, err
}

// answer answers the prompt by the agent or by a built-in command.
func (s *Session) answer(ctx context.Context, prompt []acp.ContentBlock, inbox *agent.Inbox) (reason acp.StopReason, err error) {
	in := agent.Input{Content: prompt, Inbox: inbox}
	if c, rest, ok := commandOf(prompt); ok {
		if c.run != nil {
			inbox.Close(agent.ErrNotTaken) // no model sees this turn
			s.record(transcript.Prompt{MessageID: s.all.NewID(), Content: prompt, Local: true})
			reply, err := c.run(s, ctx, rest)
			if err != nil {
				return "", err
			}
			if rest != "" && c.hint == "" {
				reply += fmt.Sprintf("\n\nThe text after /%s was ignored: the command takes no argument. Send it as a prompt of its own.", c.name)
			}
			if transcript.Attached(prompt) > 0 {
				reply += "\n\n" + agent.CommandTakesNone
			}
			return acp.StopEndTurn, s.runner().Say(ctx, reply)
		}
		if in.Instead = c.prompt(rest); in.Instead == "" {
			inbox.Close(agent.ErrNotTaken)
			s.record(transcript.Prompt{MessageID: s.all.NewID(), Content: prompt, Local: true})
			return acp.StopEndTurn, s.runner().Say(ctx, fmt.Sprintf("Type `/%s %s`.", c.name, c.hint))
		}
	} else if e, ok, err := s.expand(ctx, prompt); err != nil {
		return "", err
	} else if ok && e.Reply != "" {
		s.record(transcript.Prompt{MessageID: s.all.NewID(), Content: prompt, Local: true})
		return acp.StopEndTurn, s.runner().Say(ctx, e.Reply)
	} else if ok {
		in.Expanded, in.Earlier, in.Commands, in.Bounds = e.Content, e.Earlier, e.Commands, e.Bounds
	}
	s.history, reason, err = s.runner().Turn(ctx, s.history, in)
	s.files().End(ctx)
	return reason, err
}

// storeUnrun stores a prompt that was cancelled in the queue, after the earlier
// turns. No model sees it.
func (t *turn) storeUnrun() {
	s := t.session
	if t.unrun == nil {
		return
	}
	end, moved, err := s.journal.begin(context.Background(), func(error) {})
	if err != nil || moved { // another process is using the session
		return
	}
	s.record(transcript.Prompt{MessageID: s.all.NewID(), Content: t.unrun, Local: true})
	end(transcript.TurnEnd{Reason: acp.StopCancelled})
}

// End frees the place in the queue. A turn that was cancelled in the queue is
// answered at once, but the next turn still waits for the earlier ones.
func (t *turn) End() {
	t.closeInbox(acp.ErrTurnCancelled) // if it never ran
	if t.added != nil {
		t.added.Answered()
	}
	t.session.mu.Lock()
	delete(t.session.turns, t)
	t.session.mu.Unlock()
	t.cancel(nil)
	if before := t.before; before != nil {
		go func() {
			<-before.done
			t.storeUnrun()
			close(t.done)
		}()
		return
	}
	close(t.done)
}
