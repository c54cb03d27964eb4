package session

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// record records events of a turn. Before the first prompt it records the
// settings, since the defaults may differ when the session is loaded. The first
// prompt that is not a command supplies the session's title.
func (s *Session) record(events ...transcript.Event) {
	insert := func() {}
	for i, e := range events {
		switch e := e.(type) {
		case transcript.Prompt:
			s.prompted = true
			insert = s.prepareInsertion(&e)
			events[i] = e
			s.mu.Lock()
			s.recordInitial()
			s.mu.Unlock()
			if !e.NoModel {
				if state, ok := s.goalState(); ok {
					events = append(events, state)
				}
				s.turnNumber++
				s.files().Begin(s.turnNumber, e.MessageID)
				if s.journal.title() == "" {
					events = append(events, transcript.Title{Title: s.titleOf(e.Content)})
				}
			}
		case transcript.Steer:
			s.setKeyed(e.Key, e.MessageID)
		case transcript.State:
			s.setState(e)
		case transcript.Answer:
			if e.Shown != nil {
				s.mu.Lock()
				s.usage = *e.Shown
				s.mu.Unlock()
			}
		}
	}
	s.journal.record(events...)
	insert()
}

// prepareInsertion adds the client's key to a prompt, and returns what follows once the prompt is
// recorded: it is stored and shown, and whoever sent it is told.
func (s *Session) prepareInsertion(e *transcript.Prompt) func() {
	now := s.inserting
	s.inserting = insertion{}
	e.Key = now.key
	s.setKeyed(e.Key, e.MessageID)
	show := func() {
		if len(e.Content) > 0 { // else the session continued by itself
			s.currentClient().ShowPrompt(s.id, e.MessageID, e.Content)
		}
	}
	if now.inserted == nil {
		return show
	}
	return func() {
		s.stored(now.ctx)
		show()
		now.inserted(e.MessageID, false)
	}
}

// MessageID returns the message of the conversation that has a client's key.
func (s *Session) MessageID(key string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok = s.keyed[key]
	return id, ok
}

func (s *Session) setKeyed(key, id string) {
	if key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keyed == nil {
		s.keyed = map[string]string{}
	}
	s.keyed[key] = id
}

// adoptKeys reads the clients' keys from the log. A rewind removes the ones of its messages. A copy of a
// session has none of them.
func (s *Session) adoptKeys(events []transcript.Event) {
	s.mu.Lock()
	s.keyed = nil
	s.mu.Unlock()
	for _, e := range transcript.Effective(eventsAfterCopy(events)) {
		switch e := e.(type) {
		case transcript.Prompt:
			s.setKeyed(e.Key, e.MessageID)
		case transcript.Steer:
			s.setKeyed(e.Key, e.MessageID)
		}
	}
}

// stored waits until the recorded events are stored. If they cannot be stored, it
// first warns the user, in a message of the running turn.
func (s *Session) stored(ctx context.Context) {
	s.journal.syncDue()
	if s.journal.storeError() != nil {
		s.showWarnings(ctx, "", "\n\n")
	}
}

// update sends an update during a turn, after the events that it may reveal were stored. id
// is the ID of the session or of a child session.
func (s *Session) update(ctx context.Context, id string, u acp.SessionUpdate) error {
	s.stored(ctx)
	return s.currentClient().Update(ctx, id, u)
}

// setState sets the current value of a state of the tools.
func (s *Session) setState(e transcript.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil {
		s.states = map[string]json.RawMessage{}
	}
	s.states[e.Name] = e.Value
}

// state returns the current value of a state of the tools.
func (s *Session) state(name string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[name]
}

// recordInitial records the first events of a new session: its settings, and whether it has a
// user. The caller holds s.mu, so no setting changes meanwhile.
func (s *Session) recordInitial() {
	if s.journal.hasBegun() {
		return
	}
	events := []transcript.Event{
		transcript.Setting{ID: optionMode, Value: s.settings.mode},
		transcript.Setting{ID: optionModel, Value: s.settings.modelName},
		transcript.Setting{ID: optionThought, Value: s.settings.thought},
	}
	if s.settings.system.Text != "" {
		events = append(events, transcript.Setting{ID: optionSystem, Value: s.settings.systemValue()})
	}
	if s.sessions.Unattended {
		events = append(events, unattended)
	}
	s.journal.record(events...)
}

// unattended marks the log of a session that began without a user.
var unattended = transcript.State{Name: "unattended", Value: json.RawMessage("true")}

// IsUnattended reports whether the session with this log began without a user, as the run
// of a scheduled task does. It returns false for a copy, which a user made.
func IsUnattended(events []transcript.Event) bool {
	return slices.ContainsFunc(eventsAfterCopy(events), func(e transcript.Event) bool {
		state, ok := e.(transcript.State)
		return ok && state.Name == unattended.Name
	})
}
