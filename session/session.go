// Package session manages the sessions of a connection: their turns and
// settings, the commands that need no model, and the log from which a session
// is restored.
//
// Start with [Sessions], which implements acp.Sessions and gets the agent that
// runs turns from a factory. A session runs one turn at a time, and prompts
// wait in the order of their frames. Turns of different sessions run
// concurrently. A cancel reaches the turns that began before it and no later
// ones. When a frame shows the client a complete event, that event is stored,
// or the user has been warned that it is not.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Agent runs a session's turns; *agent.Agent implements it.
type Agent interface {
	// Turn runs one prompt. It returns the history that follows, even with an
	// error.
	Turn(ctx context.Context, history []llm.Message, in agent.Input) ([]llm.Message, acp.StopReason, error)
	// Compact returns a shorter history with a summary of the given one. Focus
	// names the most important topic.
	Compact(ctx context.Context, history []llm.Message, focus string) ([]llm.Message, error)
	// Say shows the user a message that no model sees.
	Say(ctx context.Context, text string) error
	// CancelInner cancels the inner turn of that caller id, if it runs.
	CancelInner(caller string)
	// Tools returns the tools that the model is offered.
	Tools() []llm.Tool
	// Typed returns those tools that a user would call by a command.
	Typed() []llm.Tool
}

// Setup is the input of the factory of agents. Its functions return current
// values.
type Setup struct {
	ID         string
	Client     *acp.Client
	CWD        string   // absolute
	Dirs       []string // additional roots, absolute
	MCPServers []acp.MCPServer
	Resumed    bool           // the session is a stored one
	Unattended bool           // there is no user
	MCPWait    *time.Duration // how long the first prompt waits for them; nil means as configured
	Mode       func() string
	SetMode    func(ctx context.Context, id string) error // also shows the client the change
	Model      func() llm.Model
	Thought    func() string
	Record     func(...transcript.Event)
	State      func(name string) json.RawMessage // the value of the last transcript.State of that name; nil if there is none
	Spend      func(llm.Model, llm.Usage) *acp.Cost
	Warn       func(text string) // queues a warning for the user
	Withdraw   func(text string) // drops a warning that no longer applies
	Announce   func()            // sends the commands again soon, if they have changed
}

// Opening is the agent of a session with its settings and warnings.
type Opening struct {
	Agent    Agent
	Tools    Tools    // nil if the tools have no state
	Mode     string   // the mode of a new session
	Warnings []string // for the user
	Look     func()   // called before each turn, so that it can warn; may be nil
}

// Tools is the state that a session's tools keep across turns.
type Tools interface {
	// Reset drops all state that a new conversation must not see.
	Reset()
	// Status returns the lines for /status, each a name, a colon and a text.
	Status() []string
	// Servers describes the MCP servers, in Markdown.
	Servers() string
	// Trust carries out the rest of the command /trust, and returns the reply.
	Trust(rest string) string
	// Skills carries out the rest of the command /skill, and returns the reply. Without a
	// text it lists the skills.
	Skills(rest string) string
	// Agents describes the types of sub-agents, in Markdown. It may ask the user to
	// approve some.
	Agents(context.Context) string
	// Permissions describes the remembered answers, in Markdown.
	Permissions() string
	// Hooks describes the hooks, in Markdown. It may ask the user to approve some.
	Hooks(context.Context) string
	// Jobs carries out the rest of the command /jobs, and returns the reply.
	Jobs(ctx context.Context, rest string) string
	// Policy answers the command /policy, in Markdown.
	Policy(ctx context.Context, rest string) string
	// Commands returns the commands of MCP servers and of files.
	Commands() []Command
	// Expand returns the prompt for one of these commands. It returns false if there is
	// none of that name. An error ends the turn.
	Expand(ctx context.Context, name, rest string) (Expansion, bool, error)
	// Files restores the files that turns changed.
	Files() Files
	// Confirm asks the user a question with a text in Markdown below it. It returns false
	// if there is no user to ask.
	Confirm(ctx context.Context, question, text string) bool
	// Close ends background commands and waits for them.
	Close()
}

// Command is a command of an MCP server, "SERVER:PROMPT", or of a file, "DIR:NAME".
type Command struct {
	Name, Description string
	Hint              string // for its arguments; empty if it has none
}

// Expansion is the prompt that a command stands for.
type Expansion struct {
	Reply   string // for the user, instead of a prompt; empty if there is a prompt
	Earlier []transcript.Earlier
	Content []acp.ContentBlock
	// Commands and Bounds are those of agent.Input.
	Commands map[int]string
	Bounds   agent.Bounds
}

// Sessions holds the open sessions. Its exported fields must not change after
// the first use.
type Sessions struct {
	// NewAgent creates the agent of a session. An *acp.ParamsError reports an
	// invalid request of the client.
	NewAgent func(Setup) (Opening, error)
	// Model opens a model by the name that the user selects; empty means the
	// default one. An error that wraps acp.ErrAuthRequired asks the user for a
	// key.
	Model  func(name string) (llm.Model, error)
	Models func() []llm.Choice // the list to choose from
	// Taken, if not nil, is called with each model that a session begins to
	// use. It must not block.
	Taken func(llm.Model)
	// Prepare, if not nil, is called after a client got the id of a new session,
	// before its first prompt. It must not block.
	Prepare func()
	// Deleted, if not nil, is called after a session was deleted from the store.
	Deleted func(id string)
	// Imported returns the events that end the log of an imported session; nil adds
	// no event.
	Imported func() []transcript.Event
	Modes    []acp.SessionMode
	// Unattended means that the client has no user whom it could ask.
	Unattended bool
	Store      *store.DB // nil stores nothing
	NewID      func() string
	Now        func() time.Time
	// Settle is the delay between the response that names a session and its
	// first updates, unless a prompt comes first. Some clients drop updates
	// that arrive before they have processed that response.
	Settle time.Duration
	Log    *slog.Logger

	mu      sync.Mutex
	holder  string // the id of this process in leases
	open    map[string]*Session
	closing map[string]*Session // closed sessions whose turns have not ended yet
	loading sync.Mutex          // serializes loading, so that no session is opened twice
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
	for _, sess := range s.opened() {
		tools.Go(sess.closeTools)
	}
	tools.Wait()
}

// Finish makes the last attempt to store the pending events of all open
// sessions.
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

// toolState returns the state of the session's tools; nil if they have none.
func (s *Session) toolState() Tools {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keeper
}

// closeTools ends the background commands of the session.
func (s *Session) closeTools() {
	tools := s.toolState()
	if tools != nil {
		tools.Close()
	}
}

// Session is one conversation.
type Session struct {
	id      string
	all     *Sessions
	journal journal

	history   []llm.Message // of the running turn
	number    int           // of the last turn that is not a command; also of the running turn
	recovered bool          // Files.Recover was called; also of the running turn
	titled    string        // the title last sent to the client; also of the running turn

	announcing sync.Mutex    // held while commands are sent
	commanded  []acp.Command // as last sent to the client; guarded by announcing
	sending    sync.Mutex    // held while settings are sent, so that the last ones sent are the newest

	mu       sync.Mutex
	client   *acp.Client
	cwd      string
	dirs     []string
	agent    Agent
	keeper   Tools // nil if the tools have no state
	settings settings
	shown    []acp.ConfigOption         // as last sent to the client
	usage    acp.UsageUpdate            // the last one sent
	costs    map[string]float64         // by currency
	states   map[string]json.RawMessage // of the tools
	warnings []string                   // not yet shown to the user
	told     []string                   // shown to the user; for /status
	look     func()                     // Look of the Opening
	opened   bool                       // the session was announced to the client
	renewing bool                       // the commands are about to be sent again
	resumed  bool                       // opened without a replay, so the client has no usage yet
	last     *turn                      // the end of the queue; nil before the first turn
	begun    int                        // the number of turns so far
	turns    map[*turn]struct{}         // running and queued
	closed   bool                       // no turn may begin any more

	ended chan struct{} // closed after the session was closed and its turns have ended
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Cancel cancels all turns that have begun. It does not affect a load that
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

// CancelChild cancels the inner turn of a child session.
func (s *Session) CancelChild(id string) {
	s.mu.Lock()
	a := s.agent
	s.mu.Unlock()
	a.CancelInner(id)
}

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
	if !s.all.closes(s) {
		return wait
	}
	s.mu.Lock()
	s.opened = true // nothing needs announcing any more
	s.closed = true
	last := s.last
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
		s.all.mu.Lock()
		delete(s.all.closing, s.id)
		s.all.mu.Unlock()
		close(s.ended)
	}()
	return wait
}

// closes moves an open session to those being closed. It returns false if the
// session is not open.
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
