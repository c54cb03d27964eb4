// Package session manages the sessions of a connection: their turns and
// settings, the commands that need no model, and the log from which a session
// is restored.
//
// Start with [Sessions], which implements acp.Sessions and gets the agent that
// runs turns from a factory. A session runs one turn at a time, and prompts
// wait in the order of their frames. Turns of different sessions run
// concurrently. A cancel reaches the turns that began before it and no later
// ones. A complete event is stored before a frame shows it to the client. If it
// cannot be stored, the user is warned first.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Session is one conversation.
type Session struct {
	id, cwd  string
	sessions *Sessions // has the parts that all sessions share
	journal  journal

	conversation
	shownCommands
	sending sync.Mutex // held while settings are sent, so that the last ones sent are the newest

	mu sync.Mutex // guards all fields below
	opened
	settings    settings
	sentOptions []acp.ConfigOption // the options last sent to the client
	tally
	notices
	queue
}

// conversation belongs to the running turn, so it needs no mutex.
type conversation struct {
	history    []llm.Message
	turnNumber int  // the number of the last turn that is not a command
	prompted   bool // the running turn has recorded its prompt
	inserting  insertion
	recovered  bool   // Files.Recover was called
	sentTitle  string // the title last sent to the client
}

// insertion is what happens once the prompt of the running turn is recorded.
type insertion struct {
	ctx      context.Context // of the turn
	key      string          // of the prompt; may be empty
	inserted func(messageID string, joined bool)
}

// shownCommands are the commands as the client knows them.
type shownCommands struct {
	announcing   sync.Mutex    // held while commands are sent
	sentCommands []acp.Command // the commands last sent to the client; guarded by announcing
}

// opened is what setUp makes for a client and its directories.
type opened struct {
	client       *acp.Client
	dirs         []string
	agent        Agent
	tools        Tools  // nil if the tools have no state
	beforeTurn   func() // BeforeTurn of the AgentSession; may be nil
	awaitStart   func(context.Context)
	hint         string // see AgentSession; empty once it was shown
	announced    bool   // the session was announced to the client
	renewPlanned bool   // a timer will send the commands again
	usageUnsent  bool   // the session was opened without a replay, so the client has no usage yet
}

// tally is what turns have added up.
type tally struct {
	usage  acp.UsageUpdate // the last one sent
	spent  spending
	keyed  map[string]string          // the ids of messages by the client's keys
	goal   *goalRun                   // the work on a goal in the running turn; nil if there is none
	states map[string]json.RawMessage // the values of the last transcript.State, by name
}

// notices are the warnings for the user.
type notices struct {
	warnings      []string // not yet shown to the user
	shownWarnings []string // the last warnings shown to the user, for /status
}

// queue holds the turns.
type queue struct {
	lastTurn  *turn              // the end of the queue; nil before the first turn
	turnCount int                // turns so far, including those without a prompt
	turns     map[*turn]struct{} // running and queued
	closed    bool               // no turn may begin any more
	ended     chan struct{}      // closed after the session was closed and its turns have ended
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Cancel cancels all turns that have begun. It does not affect a load that
// waits for them.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.turns {
		if !t.withoutPrompt {
			t.cancel(acp.ErrTurnCancelled)
		}
	}
}

// CancelChild cancels the subturn of a child session.
func (s *Session) CancelChild(id string) {
	s.runner().CancelSubturn(id)
}

// CallCancel returns the function that cancels a tool call.
func (s *Session) CallCancel(id string) func() { return s.runner().CallCancel(id) }

// TerminalCancel returns the function that ends the command of a terminal.
func (s *Session) TerminalCancel(id string) func() { return s.runner().TerminalCancel(id) }

// errSessionClosed is the cause that cancels the queued turns of a closed
// session.
var errSessionClosed = fmt.Errorf("the session was closed: %w", acp.ErrTurnCancelled)

// Close removes the session from the open ones and cancels its turns; wait
// waits until they have ended. Stored data stays.
func (s *Session) Close() (wait func(context.Context) error) {
	wait = func(ctx context.Context) error {
		select {
		case <-s.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if !s.sessions.markClosing(s) {
		return wait
	}
	s.mu.Lock()
	s.announced = true // nothing needs announcing any more
	s.closed = true
	last := s.lastTurn
	for t := range s.turns {
		t.cancel(errSessionClosed)
	}
	s.mu.Unlock()
	go func() { // it must finish even if the request to close is cancelled
		if last != nil {
			<-last.done
		}
		s.closeTools()
		s.journal.finish()
		s.currentClient().Closed(s.id)
		s.sessions.mu.Lock()
		delete(s.sessions.closing, s.id)
		s.sessions.mu.Unlock()
		close(s.ended)
	}()
	return wait
}

// toolState returns the state of the session's tools; nil if they have none.
func (s *Session) toolState() Tools {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// closeTools ends the background commands of the session.
func (s *Session) closeTools() {
	tools := s.toolState()
	if tools != nil {
		tools.Close()
	}
}

// runner returns the agent that runs the session's turns.
func (s *Session) runner() Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agent
}
