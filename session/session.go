// Package session holds the open sessions of a connection and runs their turns.
//
// Start with [Sessions]: it fits acp.Sessions, and gets what runs a turn from a
// factory. It promises that a session has one turn at a time, that prompts wait
// in the order of their frames, that turns of different sessions run side by
// side, and that a cancel reaches the turns that were begun before it and no
// later one.
package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Agent runs a session's turns; agent.Agent fits.
type Agent interface {
	// Turn runs one prompt: history in, history out, also beside an error.
	Turn(ctx context.Context, history []llm.Message, prompt []acp.ContentBlock) ([]llm.Message, acp.StopReason, error)
}

// Setup is what an agent is made of.
type Setup struct {
	ID     string
	Client *acp.Client
	CWD    string        // absolute
	Dirs   []string      // more roots, absolute
	Mode   func() string // the id of the session's mode now
}

// Sessions are the open sessions. Its exported fields do not change once it is
// used.
type Sessions struct {
	// NewAgent makes the agent of a session and tells the mode in which the
	// session begins. An *acp.ParamsError is the client's fault; an error that
	// wraps acp.ErrAuthRequired asks the user for a key.
	NewAgent func(Setup) (a Agent, mode string, err error)
	NewID    func() string
	Modes    []acp.SessionMode

	mu   sync.Mutex
	open map[string]*Session
}

// New opens a session.
func (s *Sessions) New(_ context.Context, client *acp.Client, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	sess := &Session{id: s.NewID(), all: s, turns: map[*turn]struct{}{}}
	a, mode, err := s.NewAgent(Setup{
		ID: sess.id, Client: client, CWD: p.CWD, Dirs: p.AdditionalDirectories, Mode: sess.Mode,
	})
	if err != nil {
		return acp.NewSessionResponse{}, fmt.Errorf("open a session: %w", err)
	}
	sess.agent, sess.mode = a, mode
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*Session{}
	}
	s.open[sess.id] = sess
	return acp.NewSessionResponse{
		SessionID: sess.id,
		Modes:     acp.SessionModeState{CurrentModeID: mode, AvailableModes: s.Modes},
	}, nil
}

// Find gives an open session, else acp.ErrUnknownSession.
func (s *Sessions) Find(id string) (acp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess, ok := s.open[id]; ok {
		return sess, nil
	}
	return nil, acp.ErrUnknownSession
}

// Session is one conversation.
type Session struct {
	id    string
	all   *Sessions
	agent Agent

	history []llm.Message // of the turn that runs

	mu    sync.Mutex
	mode  string
	last  *turn              // the end of the queue; nil before the first turn
	turns map[*turn]struct{} // running and queued
}

// Mode gives the id of the current mode.
func (s *Session) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// SetMode changes the mode; calls that are judged from now on see it.
func (s *Session) SetMode(id string) error {
	if !slices.ContainsFunc(s.all.Modes, func(m acp.SessionMode) bool { return m.ID == id }) {
		return &acp.ParamsError{Field: "modeId", Reason: fmt.Sprintf("unknown mode %q", id)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = id
	return nil
}

// Cancel ends all turns that were begun so far.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.turns {
		t.cancel(acp.ErrTurnCancelled)
	}
}

// Close forgets the session, cancels its turns and waits for them to end.
func (s *Session) Close(ctx context.Context) error {
	s.all.mu.Lock()
	delete(s.all.open, s.id)
	s.all.mu.Unlock()
	s.Cancel()
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == nil {
		return nil
	}
	select {
	case <-last.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
