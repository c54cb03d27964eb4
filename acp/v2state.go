package acp

import (
	"context"
	"slices"
)

// The states of a session's foreground work in version 2; SubagentRunning and the others are the same.
const (
	stateRunning        = SubagentRunning
	stateRequiresAction = SubagentRequiresAction
	stateIdle           = SubagentIdle
)

// shownSession is what was sent to a client of version 2 about a session.
type shownSession struct {
	id      string
	prompts []*shownPrompt        // received and not ended, in order; of a root only
	working bool                  // a prompt runs
	ending  bool                  // it was cancelled: the next state is idle
	state   string                // last sent; empty means idle
	asking  int                   // open questions
	calls   map[string]*shownCall // not ended, by id
	// background are the terminals that go on without the foreground work, as they were announced; reported
	// says that the client was ever shown one.
	background []wireTerminal
	reported   bool
	replay     *replay // nil unless the history is being sent; of a root only
}

// shownPrompt is a prompt of the client whose work has not ended.
type shownPrompt struct{ session string }

// shownCall is an open tool call.
type shownCall struct {
	asking bool // a question about it is open
	cancel bool // the client may cancel it
	// terminal is the announcement of the terminal that shows its command.
	terminal wireTerminal
	child    string // the child session that it waits for; may be empty
}

// stateOf returns a state of the session with its work in the background.
func (s *shownSession) stateOf(state string) wireState {
	w := wireState{Update: updateState, State: state}
	if s.reported {
		list := []wireWork{}
		for _, t := range s.background {
			list = append(list, wireWork{"terminal", t.TerminalID})
		}
		w.Background = &list
	}
	return w
}

// offersCancel reports whether the client may cancel a tool call or a terminal of a session.
func (d *version2) offersCancel(session, call, terminal string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(session)
	return s.calls[call] != nil && s.calls[call].cancel || s.listed(terminal) >= 0
}

// listed returns the index of a terminal in the background, -1 if it is not there.
func (s *shownSession) listed(terminal string) int {
	return slices.IndexFunc(s.background, func(t wireTerminal) bool { return t.TerminalID == terminal })
}

func (s *shownSession) frame(update any) wireUpdate { return wireUpdate{s.id, update} }

func (s *shownSession) all(updates []any) []wireUpdate {
	out := make([]wireUpdate, 0, len(updates)+1)
	for _, u := range updates {
		out = append(out, s.frame(u))
	}
	return out
}

// see notes the state of a tool call.
func (s *shownSession) see(u ToolCall) {
	if u.Status.Final() {
		delete(s.calls, u.ToolCallID)
		return
	}
	call := s.calls[u.ToolCallID]
	if call == nil && u.Update == UpdateToolCall {
		call = &shownCall{}
		s.calls[u.ToolCallID] = call
	}
	if call != nil && u.Terminal != nil && u.Terminal.Opens {
		call.terminal = wireTerminalOf(*u.Terminal, false)
	}
	if call != nil && u.Cancel != nil {
		call.cancel = *u.Cancel
	}
	for _, c := range u.Content {
		if c.Type == "session" && call != nil {
			call.child = c.SessionID
		}
	}
}

// refresh returns the state of a session whose work runs, if the client has another one: it requires
// action if all that the work waits for are answers of the user. The work of a prompt that is not
// inserted yet shows with its first question, such as one about a hook. The caller holds mu.
func (d *version2) refresh(s *shownSession) []wireUpdate {
	now := stateRunning
	if d.isBlocked(s) {
		now = stateRequiresAction
	}
	runs := s.working || len(s.prompts) > 0 && (s.asking > 0 || s.isBusy())
	if !runs || s.ending || s.state == now {
		return nil
	}
	s.state = now
	return []wireUpdate{s.frame(s.stateOf(now))}
}

func (d *version2) isBlocked(s *shownSession) bool {
	blocked := s.asking > 0
	for _, call := range s.calls {
		inChild := call.child != "" && d.session(call.child).state == stateRequiresAction
		if !call.asking && !inChild {
			return false
		}
		blocked = true
	}
	return blocked
}

// asking notes an open question to the user about a call, or about none, until done is called. ended
// says that the work was cancelled, so its next state is idle.
func (d *version2) asking(c *Client, session, call string) (done func(ended bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(session)
	if owner := d.owner(session, call); owner != nil {
		s = owner
	}
	note := func(by int) { // the caller holds mu
		s.asking += by
		if shown := s.calls[call]; shown != nil {
			shown.asking = by > 0
		}
		_ = d.write(c, d.refresh(s)) // a closed connection ends the turn by itself
	}
	note(1)
	return func(ended bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		s.ending = s.ending || ended && (s.working || s.isBusy())
		note(-1)
	}
}

// receive notes a prompt, in the order of the session's queue.
func (d *version2) receive(session string) *shownPrompt {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &shownPrompt{session}
	s := d.session(session)
	s.prompts = append(s.prompts, p)
	return p
}

// leave forgets a prompt, and reports whether its work was shown without an end: the work of a prompt
// that was not inserted shows if it asked the user.
func (d *version2) leave(p *shownPrompt) (open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(p.session)
	open = len(s.prompts) > 0 && s.prompts[0] == p && s.isBusy() // the others had to wait
	s.prompts = slices.DeleteFunc(s.prompts, func(other *shownPrompt) bool { return other == p })
	return open
}

// isBusy reports whether the client was last shown that work runs.
func (s *shownSession) isBusy() bool { return s.state != "" && s.state != stateIdle }

// begin shows that the work of a prompt has begun.
func (d *version2) begin(c *Client, session string) {
	d.inOrder(c, session, func(s *shownSession) []wireUpdate {
		s.working, s.ending = true, false
		return d.refresh(s)
	})
}

// end shows that the work of a prompt has ended. err is its failure.
func (d *version2) end(c *Client, session string, reason StopReason, err error) {
	var fault any
	if err != nil {
		reason, fault = SubagentFailed, c.stream.maskedFault(session, err)
	}
	d.inOrder(c, session, func(s *shownSession) []wireUpdate {
		s.working, s.ending, s.state = false, false, stateIdle
		clear(s.calls)
		state := s.stateOf(stateIdle)
		state.StopReason, state.Error = reason, fault
		return []wireUpdate{s.frame(state)}
	})
}

// inOrder writes the frames of a change of a session's state. While its history is sent, it waits.
func (d *version2) inOrder(c *Client, session string, change func(*shownSession) []wireUpdate) {
	_ = c.family(session).live(context.Background(), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		_ = d.write(c, change(d.session(session))) // a closed connection ends the turn by itself
	})
}
