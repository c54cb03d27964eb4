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
	session       *Session
	ctx           context.Context // a turn begins on one goroutine and runs on another
	cancel        context.CancelCauseFunc
	number        int                 // in the order of the queue
	withoutPrompt bool                // a load or a rewind, which has no prompt
	reopens       bool                // it changes the agent for later turns; a text for the running turn may overtake it
	inbox         agent.Inbox         // the texts that the user adds
	added         *agent.Addition     // the text that this prompt added to another turn; nil if it added no text
	blocked       *agent.BlockedError // why a hook blocked that text; nil if none did
	reply         string              // of a command about the goal of the running turn, which needs no turn; else empty
	before        *turn               // the turn to wait for; nil for the first, and once it has ended
	unrun         []acp.ContentBlock  // the prompt, if it was cancelled before it was recorded; nil once it is stored
	ran           bool                // Run has returned; guarded by the mutex of the session
	done          chan struct{}       // closed when this turn and all earlier ones have ended
}

// Begin appends a turn to the queue. If the prompt is the command to steer, its text
// joins the running turn immediately.
func (s *Session) Begin(ctx context.Context, p acp.Prompt) acp.Turn {
	if reply, ok := s.controlGoal(p.Content); ok {
		return s.enqueue(ctx, &turn{reply: reply})
	}
	return s.enqueue(ctx, &turn{added: s.addSteering(p)})
}

// enqueue appends a turn to the queue and returns it. It sets all fields of the turn that
// the queue needs.
func (s *Session) enqueue(ctx context.Context, t *turn) *turn {
	t.session, t.done = s, make(chan struct{})
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		t.cancel(errSessionClosed)
	}
	s.turnCount++
	t.number, t.before = s.turnCount, s.lastTurn
	s.lastTurn = t
	s.turns[t] = struct{}{}
	return t
}

// wait waits until all earlier turns have ended.
func (t *turn) wait() error {
	if t.before != nil {
		select {
		case <-t.before.done:
		case <-t.ctx.Done():
		}
		select {
		case <-t.before.done:
			t.before = nil
		default: // cancelled in the queue
		}
	}
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	return nil
}

// isNext reports whether no earlier turn still has work.
func (t *turn) isNext() bool {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	for other := range t.session.turns {
		if other.number < t.number && !other.ran {
			return false
		}
	}
	return true
}

// Run waits for the earlier turns and runs the prompt.
func (t *turn) Run(p acp.Prompt) (reason acp.StopReason, err error) {
	defer func() {
		t.closeInbox(err)
		t.session.mu.Lock()
		t.ran = true
		t.session.mu.Unlock()
	}()
	if t.reply != "" {
		if id := t.session.sessions.NewID(); p.Inserted != nil {
			t.session.currentClient().ShowPrompt(t.session.id, id, p.Content)
			p.Inserted(id, true)
		}
		return acp.StopEndTurn, t.session.say(t.ctx, t.reply)
	}
	if t.added != nil {
		err := t.added.Wait(t.ctx)
		if err == nil {
			if p.Inserted != nil {
				p.Inserted(t.added.MessageID(), true)
			}
			return acp.StopEndTurn, nil
		}
		t.blocked, _ = errors.AsType[*agent.BlockedError](err)
		if t.blocked != nil && p.Inserted != nil {
			return "", t.session.refuse(t.ctx, t.blocked.Reason)
		}
	}
	unrun := p.Content
	if p.Inserted != nil { // the client knows that it is not part of the conversation
		unrun = nil
	}
	if err := t.wait(); err != nil {
		t.unrun = unrun
		if t.before == nil {
			t.storeUnrun()
		}
		return "", err
	}
	s := t.session
	s.journal.beginTurn()
	client := s.currentClient()
	client.BeginWork(s.id)
	defer client.EndWork(s.id)
	s.inserting = insertion{ctx: t.ctx, key: p.Key, inserted: p.Inserted}
	s.announce(t.ctx)
	s.callBeforeTurn() // before the lease, since the database may still be opening
	defer func() { s.inserting = insertion{} }()
	ran := false
	err = t.hold(t.ctx, func(end func(...transcript.Event)) (err error) {
		ran = true
		reason, err = t.run(agent.Input{Content: p.Content, Inbox: &t.inbox, Caller: p.Caller}, end)
		if s.journal.storeError() != nil { // the lease was released: nothing else may be added to the log
			s.showWarnings(t.ctx, "\n\n", "") // the warning that it could not be saved
		}
		return err
	})
	if !ran && t.ctx.Err() != nil {
		t.unrun = unrun
		t.storeUnrun()
	}
	return reason, err
}

// hold calls do while this process holds the lease of the session. do may call end to
// release the lease early, with the last events of the turn. ctx ends the wait for the store.
func (t *turn) hold(ctx context.Context, do func(end func(...transcript.Event)) error) error {
	s := t.session
	end, moved, err := s.journal.begin(ctx, t.cancel)
	if leased, ok := errors.AsType[*store.LeasedError](err); ok {
		return fmt.Errorf("a turn of this session runs in another process: send the prompt again when that has ended (%w)", leased)
	}
	if err != nil {
		return err
	}
	defer end()
	if moved { // another process has continued the session
		events, err := s.journal.events(ctx)
		if err != nil {
			return fmt.Errorf("read the session: %w", err)
		}
		s.applySettings(t.ctx, s.rebuild(events))
	}
	return do(end)
}

// run runs the prompt once its turn has come, and passes the last event to end.
func (t *turn) run(in agent.Input, end func(...transcript.Event)) (acp.StopReason, error) {
	s := t.session
	s.prompted = false
	s.beginSpending()
	s.warnOfLoss()
	s.recoverFiles(t.ctx)
	if s.awaitStart != nil {
		s.awaitStart(t.ctx)
	}
	s.showWarnings(t.ctx, "", "\n\n")
	reason, err := t.answer(in)
	if err != nil && t.ctx.Err() != nil { // a failure after a cancel is a consequence of the cancel
		err = context.Cause(t.ctx)
	}
	if _, refused := errors.AsType[*acp.ParamsError](err); refused {
		return "", err // the prompt was not processed as a turn
	}
	if !s.prompted { // cancelled, or failed, while it was prepared
		if s.inserting.inserted != nil {
			return "", err
		}
		s.recordCommand(in.Content)
	}
	s.showWarnings(t.ctx, "\n\n", "") // before the turn's end, so that a replay shows them in this turn
	last := transcript.TurnEnd{Reason: reason}
	switch {
	case errors.Is(err, acp.ErrTurnCancelled), errors.Is(err, acp.ErrClosed):
		last.Reason = acp.StopCancelled
	case err != nil:
		last.Error = err.Error()
	}
	s.endSpending(t.ctx)
	end(last)
	if title := s.journal.title(); err == nil && title != s.sentTitle {
		s.sentTitle = title
		s.send(t.ctx, acp.InfoUpdate{Update: acp.UpdateInfo, Title: title, UpdatedAt: s.sessions.Now().UTC()})
	}
	return reason, err
}

// answer answers the prompt, unless a hook blocks it.
func (t *turn) answer(in agent.Input) (acp.StopReason, error) {
	s, blocked := t.session, t.blocked
	if blocked == nil {
		reason, err := s.answer(t.ctx, in)
		var ok bool
		if blocked, ok = errors.AsType[*agent.BlockedError](err); !ok {
			return reason, err
		}
	}
	return s.blocked(t.ctx, in.Content, blocked.Reason)
}

// answer answers the prompt by the agent or by a command.
func (s *Session) answer(ctx context.Context, in agent.Input) (acp.StopReason, error) {
	prompt := in.Content
	if c, rest, ok := s.commandOf(prompt); ok {
		if c.turns != nil {
			return c.turns(s, ctx, in, rest)
		}
		if c.prompt != nil {
			in.ModelText = c.prompt(rest)
		}
		if in.ModelText == "" {
			in.Inbox.Close(agent.ErrNotAccepted) // no model sees this turn
			return s.runCommand(ctx, c, rest, prompt)
		}
	} else {
		e, ok, err := s.expand(ctx, prompt)
		switch {
		case err != nil:
			return "", err
		case ok && e.Reply != "":
			s.recordCommand(prompt)
			return acp.StopEndTurn, s.runner().Say(ctx, e.Reply)
		case ok:
			in.ModelContent, in.Preamble, in.Commands, in.Bounds = e.Content, e.Preamble, e.Commands, e.Bounds
		}
	}
	return s.modelTurn(ctx, in)
}

// modelTurn runs one turn of the model.
func (s *Session) modelTurn(ctx context.Context, in agent.Input) (reason acp.StopReason, err error) {
	s.history, reason, err = s.runner().Turn(ctx, s.history, in)
	s.files().End(ctx)
	return reason, err
}

// blocked ends a prompt that a hook has blocked. The reason is the answer of the agent, or the error of a
// prompt whose client is told of the insertion.
func (s *Session) blocked(ctx context.Context, prompt []acp.ContentBlock, reason string) (acp.StopReason, error) {
	if s.inserting.inserted != nil {
		return "", s.refuse(ctx, reason)
	}
	s.recordCommand(prompt)
	return acp.StopEndTurn, s.runner().Say(ctx, reason)
}

// refuse shows why a hook has blocked a prompt, and returns the error of the prompt.
func (s *Session) refuse(ctx context.Context, reason string) error {
	s.notice(ctx, reason)
	return acp.ParamsErrorf("prompt", "%s", reason)
}

// runCommand runs a built-in command that needs no model, and shows its reply.
func (s *Session) runCommand(ctx context.Context, c command, rest string, prompt []acp.ContentBlock) (acp.StopReason, error) {
	s.recordCommand(prompt)
	if c.run == nil { // it stands for a prompt, which is empty
		return acp.StopEndTurn, s.runner().Say(ctx, fmt.Sprintf("Type `/%s %s`.", c.name, c.hint))
	}
	reply, err := c.run(s, ctx, rest)
	if err != nil {
		return "", err
	}
	if rest != "" && c.hint == "" {
		reply += fmt.Sprintf("\n\nThe text after /%s was ignored: the command takes no argument. Send it as a separate prompt.", c.name)
	}
	if transcript.CountAttachments(prompt) > 0 {
		reply += "\n\n" + agent.CommandIgnoresAttachments
	}
	return acp.StopEndTurn, s.runner().Say(ctx, reply)
}

// recordCommand records a prompt that no model sees.
func (s *Session) recordCommand(prompt []acp.ContentBlock) {
	s.record(transcript.Prompt{MessageID: s.sessions.NewID(), Content: prompt, NoModel: true})
}

// storeUnrun stores a prompt that was cancelled before it was recorded, after the earlier
// turns. No model sees it.
func (t *turn) storeUnrun() {
	if t.unrun == nil {
		return
	}
	err := t.hold(context.WithoutCancel(t.ctx), func(end func(...transcript.Event)) error {
		t.session.recordCommand(t.unrun)
		end(transcript.TurnEnd{Reason: acp.StopCancelled})
		return nil
	})
	t.unrun = nil
	if err != nil { // another process is using the session
		t.session.sessions.Log.Debug("store a cancelled prompt", "session", t.session.id, "err", err)
	}
}

// End frees the place in the queue. A turn that was cancelled in the queue is
// answered immediately, but the next turn still waits for the earlier ones.
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
