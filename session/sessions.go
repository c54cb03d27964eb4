package session

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Sessions holds the open sessions. Its exported fields must not change after
// the first use.
type Sessions struct {
	// NewAgent creates the agent of a session. An *acp.ParamsError reports an
	// invalid request of the client.
	NewAgent func(Host) (AgentSession, error)
	// Model opens a model by the name that the user selects; empty means the
	// default one. An error that wraps acp.ErrAuthRequired asks the user for a
	// key.
	Model  func(name string) (llm.Model, error)
	Models func() []llm.Choice // the list to choose from
	// Selected, if not nil, is called with each model that a session begins to
	// use. It must not block.
	Selected func(llm.Model)
	// Prepare, if not nil, is called after a client got the id of a new session,
	// before its first prompt. It must not block.
	Prepare func()
	// Deleted, if not nil, is called after a session was deleted from the store.
	Deleted func(id string)
	// Imported returns the events that end the log of an imported session; nil adds
	// no event.
	Imported func() []transcript.Event
	Modes    []acp.SessionMode
	Goal     goal.Bounds // of a goal for which the user names none
	// Followed, if not nil, is called with the state of a goal when a turn towards it begins, and
	// when the work on it ends.
	Followed func(goal.Goal)
	// Unattended means that the client has no user whom it could ask.
	Unattended bool
	Store      *store.DB // nil stores nothing
	NewID      func() string
	Now        func() time.Time
	// Settle is the delay between the response that names a session and its
	// first updates, unless a prompt comes first. Some clients drop updates
	// that arrive before they have processed that response.
	Settle time.Duration
	// Exit returns what is done to the texts of a session's events before they are recorded, except
	// to words of the user and the model; see acp.Server.Exit. Nil changes none.
	Exit func(session string) texts.Change
	Log  *slog.Logger

	mu      sync.Mutex
	holder  string // the id of this process in leases
	open    map[string]*Session
	closing map[string]*Session // closed sessions whose turns have not ended yet
	loading sync.Mutex          // serializes loading, so that no session is opened twice
	looking sync.Mutex          // serializes otherPaths
	day     day                 // what was spent, if there is no store
}

func (s *Sessions) exit(session string) texts.Change {
	if s.Exit == nil {
		return texts.Change{}
	}
	return s.Exit(session)
}

// Find returns an open session, or acp.ErrUnknownSession.
func (s *Sessions) Find(id string) (acp.Session, error) {
	if sess, ok := s.find(id); ok {
		return sess, nil
	}
	return nil, acp.ErrUnknownSession
}

// Tools returns the state that the tools of an open session keep, else
// acp.ErrUnknownSession.
func (s *Sessions) Tools(id string) (Tools, error) {
	sess, ok := s.find(id)
	if !ok {
		return nil, acp.ErrUnknownSession
	}
	return sess.toolState(), nil
}

// HasTool reports whether an open session has a tool of that name.
func (s *Sessions) HasTool(id, name string) bool {
	sess, ok := s.find(id)
	return ok && slices.ContainsFunc(sess.runner().Tools(), func(t llm.Tool) bool { return t.Name == name })
}

func (s *Sessions) find(id string) (*Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess, ok := s.open[id]
	return sess, ok
}

func (s *Sessions) add(sess *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*Session{}
	}
	s.open[sess.id] = sess
}

func (s *Sessions) leaseHolder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder == "" {
		s.holder = s.NewID()
	}
	return s.holder
}

// CloseTools ends the background commands of all open sessions and waits for
// them. No turn may be running.
func (s *Sessions) CloseTools() {
	var tools sync.WaitGroup
	for _, sess := range s.openSessions() {
		tools.Go(sess.closeTools)
	}
	tools.Wait()
}

// Finish makes the last attempt to store the pending events of all open
// sessions.
func (s *Sessions) Finish() {
	for _, sess := range s.openSessions() {
		sess.journal.finish()
	}
}

func (s *Sessions) openSessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.open))
}

// markClosing moves an open session to those being closed. It returns false if the
// session is not open.
func (s *Sessions) markClosing(sess *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[sess.id] != sess {
		return false
	}
	delete(s.open, sess.id)
	if s.closing == nil {
		s.closing = map[string]*Session{}
	}
	s.closing[sess.id] = sess
	return true
}

// awaitClosed waits while a session with that id is being closed.
func (s *Sessions) awaitClosed(ctx context.Context, id string) error {
	s.mu.Lock()
	sess := s.closing[id]
	s.mu.Unlock()
	if sess == nil {
		return nil
	}
	return sess.Close()(ctx)
}
