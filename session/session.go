// Package session keeps the sessions of a connection: their turns, their
// settings, the commands that need no model, and the log from which a session
// can be opened again.
//
// Start with [Sessions]: it fits acp.Sessions, and gets what runs a turn from a
// factory. It promises that a session has one turn at a time, that prompts wait
// in the order of their frames, that turns of different sessions run side by
// side, that a cancel reaches the turns that were begun before it and no later
// one, and that what a frame told the client as complete is in the store, or the
// user knows that it isn't.
package session

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Agent runs a session's turns; *agent.Agent fits.
type Agent interface {
	// Turn runs one prompt: history in, history out, also with an error.
	Turn(ctx context.Context, history []llm.Message, in agent.Input) ([]llm.Message, acp.StopReason, error)
	// Compact returns a history that is a summary of the one that it gets; focus
	// says what matters most of it.
	Compact(ctx context.Context, history []llm.Message, focus string) ([]llm.Message, error)
	// Say shows the user a message that no model sees.
	Say(ctx context.Context, text string) error
	// Tools lists the tools that the model is offered.
	Tools() []llm.Tool
	// Typed lists those of them that a person would call.
	Typed() []llm.Tool
}

// Setup is what an agent is made of. Its functions return the current values.
type Setup struct {
	ID         string
	Client     *acp.Client
	CWD        string   // absolute
	Dirs       []string // more roots, absolute
	MCPServers []acp.MCPServer
	Mode       func() string
	Model      func() llm.Model
	Thought    func() string
	Record     func(...transcript.Event)
	Spend      func(llm.Model, llm.Usage) *acp.Cost
	Warn       func(text string) // queues a warning for the user
	Withdraw   func(text string) // drops a warning of Warn that no longer holds
}

// Opening is the agent of a session with what belongs to it.
type Opening struct {
	Agent    Agent
	Tools    Tools    // nil if they keep nothing
	Mode     string   // in which a new session begins
	Warnings []string // for the user
	Look     func()   // called before each turn, so that it can warn; nil means nothing
}

// Tools is what the tools of a session keep from turn to turn.
type Tools interface {
	// Reset forgets what a new conversation must not know.
	Reset()
	// Status lists its state, each entry a name, a colon and a text.
	Status() []string
	// Close ends what runs in the background, and waits for that.
	Close()
}

// Sessions are the open sessions. Its exported fields do not change once it is
// used.
type Sessions struct {
	// NewAgent makes the agent of a session. An *acp.ParamsError is the client's
	// fault.
	NewAgent func(Setup) (Opening, error)
	// Model makes a model by the name that the user picks it by; empty means the
	// default one. An error that wraps acp.ErrAuthRequired asks the user for a
	// key.
	Model  func(name string) (llm.Model, error)
	Models func() []llm.Choice // what there is to pick from
	// Taken is called with each model that a session begins to use. It must not
	// block; nil is not called.
	Taken func(llm.Model)
	Modes []acp.SessionMode
	Store *store.DB // nil keeps nothing
	NewID func() string
	Now   func() time.Time
	// Settle is how long after the response that names a session its first
	// updates are sent, unless there is a prompt before: some clients drop what
	// comes before they have taken the response in.
	Settle time.Duration
	Log    *slog.Logger

	mu      sync.Mutex
	holder  string // of leases: this process's
	open    map[string]*Session
	closing map[string]*Session // closed, but their turns have not ended yet
	loading sync.Mutex          // one session is loaded at a time, so that none is open twice
}

// Find returns an open session, else acp.ErrUnknownSession.
func (s *Sessions) Find(id string) (acp.Session, error) {
	if sess, ok := s.find(id); ok {
		return sess, nil
	}
	return nil, acp.ErrUnknownSession
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

// CloseTools ends what runs in the background of the open sessions, and waits for
// that. No turn may run any more.
func (s *Sessions) CloseTools() {
	var tools sync.WaitGroup
	for _, sess := range s.opened() {
		tools.Go(sess.closeTools)
	}
	tools.Wait()
}

// Finish tries once more to store what could not be stored of the open sessions.
func (s *Sessions) Finish() {
	for _, sess := range s.opened() {
		sess.journal.finish()
	}
}

func (s *Sessions) opened() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.open))
}

// closeTools ends what runs in the background.
func (s *Session) closeTools() {
	s.mu.Lock()
	tools := s.keeper
	s.mu.Unlock()
	if tools != nil {
		tools.Close()
	}
}

// Session is one conversation.
type Session struct {
	id      string
	all     *Sessions
	journal journal

	history []llm.Message // of the turn that runs
	titled  string        // the title that the client has; likewise

	announcing sync.Mutex // held while announce works
	sending    sync.Mutex // held while updates of the settings are sent, so that the last is the newest

	mu       sync.Mutex
	client   *acp.Client
	cwd      string
	dirs     []string
	agent    Agent
	keeper   Tools // nil if its tools keep nothing
	settings settings
	shown    []acp.ConfigOption // as the client last had them
	usage    acp.UsageUpdate    // the last one
	costs    map[string]float64 // by currency
	warnings []string           // that the user was not told yet
	told     []string           // those that he was, for /status
	look     func()             // of its Opening
	opened   bool               // the client was told what it must know of the session
	resumed  bool               // without a replay, so that the client has no usage yet
	last     *turn              // the end of the queue; nil before the first turn
	turns    map[*turn]struct{} // running and queued
	closed   bool               // no turn begins any more

	ended chan struct{} // closed when the session is, and its turns have ended
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// Cancel ends all turns that were begun so far. It does not reach a load that
// waits for them.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.turns {
		if !t.load {
			t.cancel(acp.ErrTurnCancelled)
		}
	}
}

// errSessionClosed is the cause with which a session that is closed ends what
// waits in its queue.
var errSessionClosed = fmt.Errorf("the session was closed: %w", acp.ErrTurnCancelled)

// Close forgets the session and cancels its turns; wait waits for them to end.
// What is stored stays.
func (s *Session) Close() (wait func(context.Context) error) {
	wait = func(ctx context.Context) error {
		select {
		case <-s.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if !s.all.closes(s) {
		return wait
	}
	s.mu.Lock()
	s.opened = true // what was not announced yet need not be
	s.closed = true
	last := s.last
	for t := range s.turns {
		t.cancel(errSessionClosed)
	}
	s.mu.Unlock()
	go func() { // which outlives a request to close that is cancelled
		if last != nil {
			<-last.done
		}
		s.closeTools()
		s.journal.finish()
		s.all.mu.Lock()
		delete(s.all.closing, s.id)
		s.all.mu.Unlock()
		close(s.ended)
	}()
	return wait
}

// closes moves an open session to those that are being closed; false if it is not
// open any more.
func (s *Sessions) closes(sess *Session) bool {
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

// awaitClosed waits until the session of that id is not being closed.
func (s *Sessions) awaitClosed(ctx context.Context, id string) error {
	s.mu.Lock()
	sess := s.closing[id]
	s.mu.Unlock()
	if sess == nil {
		return nil
	}
	return sess.Close()(ctx)
}

// record takes events of a turn. With the first prompt the settings are kept,
// since the defaults may be others when the session is loaded; the first prompt
// that is no command gives the session its title.
func (s *Session) record(events ...transcript.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case transcript.Prompt:
			if !s.journal.hasBegun() {
				s.mu.Lock()
				events = append(s.initial(), events...)
				s.mu.Unlock()
			}
			if s.journal.title() == "" && !e.Local {
				events = append(events, transcript.Title{Title: titleOf(e.Content)})
			}
		case transcript.Answer:
			if e.Shown != nil {
				s.mu.Lock()
				s.usage = *e.Shown
				s.mu.Unlock()
			}
		}
	}
	if slices.ContainsFunc(events, tells) {
		s.journal.record(events...)
	} else {
		s.journal.note(events...)
	}
}

// tells reports whether the next frame will reveal what the event completes. The
// other events are stored together with the one after them: each commit takes time.
func tells(e transcript.Event) bool {
	switch e := e.(type) {
	case transcript.Block:
		return e.Block.Call == nil
	case transcript.Answer:
		return e.Shown != nil
	}
	return true
}

// initial returns the settings of a session that begins; s.mu is held.
func (s *Session) initial() []transcript.Event {
	return []transcript.Event{
		transcript.Setting{ID: optionMode, Value: s.settings.mode},
		transcript.Setting{ID: optionModel, Value: s.settings.model},
		transcript.Setting{ID: optionThought, Value: s.settings.thought},
	}
}

// spend counts what an answer cost and returns the sum in its currency, rounded to
// the sixth decimal.
func (s *Session) spend(m llm.Model, u llm.Usage) *acp.Cost {
	amount, currency, ok := llm.Cost(m, u)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.costs[currency] += amount
	return &acp.Cost{Amount: math.Round(s.costs[currency]*1e6) / 1e6, Currency: currency}
}
