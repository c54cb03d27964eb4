package acp

import (
	"context"
	"errors"
	"unicode/utf8"
)

// prompt2Request is the user's prompt in version 2.
type prompt2Request struct {
	PromptRequest
	key string // names the prompt across retries; empty if the client sends no key
}

// maxKey bounds an idempotency key, in characters.
const maxKey = 255

func (p *prompt2Request) decode(raw []byte) error {
	o := objectOf(raw, "", "sessionId", "prompt", "idempotencyKey", "_meta")
	if o.has("idempotencyKey") {
		var err error
		if p.key, err = o.requiredString("idempotencyKey"); err != nil {
			return err
		}
		if n := utf8.RuneCountInString(p.key); n < 1 || n > maxKey {
			return ParamsErrorf("idempotencyKey", "must have 1 to %d characters, not %d", maxKey, n)
		}
	}
	if err := p.decodeMembers(o); err != nil {
		return err
	}
	for _, b := range p.Prompt {
		if b.Type == "audio" {
			return ParamsErrorf("prompt", "audio is not supported")
		}
	}
	return nil
}

// retry identifies a prompt that a client may send again.
type retry struct{ session, key string }

// insertion is the answer to a prompt with a key, which its retries share. It is guarded by version2.mu.
type insertion struct {
	settled bool
	result  any
	err     error
	retries []func(result any, err error) // of the retries that wait
}

// prompt2 answers session/prompt once the prompt has its place in the conversation. What happens
// afterwards is told by states, not by the response. A text joins the running turn; any other prompt
// waits for the end of the turns before it.
func (s *Server) prompt2(ctx context.Context, p prompt2Request) (secondPhase, error) {
	if err := p.check(s.Config); err != nil {
		return secondPhase{}, err
	}
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return secondPhase{}, err
	}
	d := s.client.dialect.(*version2)
	settle := func(any, error) {}
	if p.key != "" {
		key := retry{sess.ID(), p.key}
		open, first := d.claim(key)
		if !first {
			return secondPhase{work: func(_ context.Context, answer func(any, error)) { d.await(ctx, open, answer) }}, nil
		}
		settle = func(result any, err error) { d.settle(key, open, result, err) }
		if id, ok := sess.MessageID(p.key); ok {
			settle(wireInserted{id}, nil)
			return secondPhase{result: wireInserted{id}}, nil
		}
	}
	// The work outlives the request. Until the prompt is inserted, a cancel of the request ends it.
	turnCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	prompt := Prompt{Content: p.Prompt, Caller: p.Trace, Key: p.key, Joins: true}
	turn, shown := sess.Begin(turnCtx, prompt), d.receive(sess.ID())
	return secondPhase{work: func(conn context.Context, answer func(any, error)) {
		defer cancel(nil)
		defer context.AfterFunc(conn, func() { cancel(context.Cause(conn)) })()
		defer turn.End()
		s.runPrompt(d, shown, turn, prompt, func(result any, err error) {
			detach()
			answer(result, err)
			settle(result, err)
		})
	}}, nil
}

// errNotInserted answers a prompt whose turn ended without a reason before the prompt was inserted.
var errNotInserted = errors.New("the prompt was not added to the conversation")

// runPrompt runs the turn of a prompt. answer is called once: when the prompt is inserted, or with the
// reason why it is not.
func (s *Server) runPrompt(d *version2, shown *shownPrompt, turn Turn, p Prompt, answer func(any, error)) {
	session, inserted, joined := shown.session, false, false
	var reason StopReason
	p.Inserted = func(id string, joins bool) {
		inserted, joined = true, joins
		answer(wireInserted{id}, nil)
		if !joined {
			d.begin(s.client, session)
		}
	}
	err := s.catchPanic("session/prompt", func() (err error) {
		reason, err = turn.Run(p)
		return err
	})
	open := d.leave(shown)
	if !inserted {
		if err == nil {
			err = errNotInserted
		}
		answer(nil, err)
	}
	switch {
	case !inserted && !open, joined: // another turn tells the end, if there is any
	case errors.Is(err, ErrTurnCancelled), errors.Is(err, ErrClosed):
		d.end(s.client, session, StopCancelled, nil)
	default:
		d.end(s.client, session, reason, err)
	}
}

// claim returns the insertion of a key that is not settled yet. first reports that there was none, so
// that the caller has to settle it.
func (d *version2) claim(r retry) (open *insertion, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if open = d.retries[r]; open != nil {
		return open, false
	}
	open = &insertion{}
	d.retries[r] = open
	return open, true
}

// settle ends an insertion, and answers the retries that wait. The session has the key before.
func (d *version2) settle(r retry, open *insertion, result any, err error) {
	d.mu.Lock()
	delete(d.retries, r)
	open.settled, open.result, open.err = true, result, err
	retries := open.retries
	d.mu.Unlock()
	for _, answer := range retries {
		answer(result, err)
	}
}

// await answers a retry together with its prompt, or when ctx ends.
func (d *version2) await(ctx context.Context, open *insertion, answer func(any, error)) {
	done := make(chan struct{})
	d.mu.Lock()
	if open.settled {
		close(done)
		answer(open.result, open.err)
	} else {
		open.retries = append(open.retries, func(result any, err error) { answer(result, err); close(done) })
	}
	d.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		answer(nil, context.Cause(ctx))
	}
}
