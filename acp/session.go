package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// Sessions opens, finds and lists sessions for the server. Its methods are
// called concurrently.
type Sessions interface {
	// New opens a session. The request has a valid form.
	New(ctx context.Context, client *Client, p NewSessionRequest) (Session, error)
	// Load opens a stored session again, or adopts an open one. It sends the whole history
	// before it returns, and what a running turn has shown so far. The error is
	// ErrUnknownSession if there is no such session.
	Load(ctx context.Context, r *Replay, p LoadSessionRequest) (Session, error)
	// Resume is Load without the history.
	Resume(ctx context.Context, client *Client, p LoadSessionRequest) (Session, error)
	// Fork opens a new session with the messages of another one. The error is
	// ErrUnknownSession if there is no such session.
	Fork(ctx context.Context, client *Client, p ForkSessionRequest) (Session, error)
	// List returns a page of the stored sessions, the newest first.
	List(ctx context.Context, p ListSessionsRequest) (ListSessionsResponse, error)
	// Delete closes a session if it is open, waits for it as Close does, and
	// deletes its data. It returns nil if there is no such session.
	Delete(ctx context.Context, id string) error
	// Find returns an open session, else ErrUnknownSession. It does not block.
	Find(id string) (Session, error)
}

// Session is an open session. Its methods are called concurrently. Begin,
// Steer, Cancel, CancelChild, SetMode, SetOption and Close are called on the read goroutine, in
// frame order. Begin is also called elsewhere, for a text that no running turn
// accepted. Only Sync, and the function that Close returns, may block.
type Session interface {
	ID() string
	// State returns the settings that the client shows.
	State() SessionState
	// Commands returns the slash commands. They count as sent.
	Commands() []Command
	// MessageID returns the message of a prompt with that [Prompt].Key in the conversation.
	MessageID(key string) (id string, ok bool)
	// Begin reserves a place in the session's queue of turns, for the prompt that Run
	// will get. [Turn.End] frees it.
	Begin(ctx context.Context, p Prompt) Turn
	// Steer adds a text to the running turn, or to the one that runs next. It returns
	// false if there is no such turn, or if that turn accepts no texts.
	Steer(prompt []ContentBlock) (Steering, bool)
	// Cancel ends the running turn and the queued ones with ErrTurnCancelled.
	// It has no effect on later turns.
	Cancel()
	// CancelChild ends the work of a child session, by its id. It has no effect if the
	// child has no work.
	CancelChild(id string)
	// CallCancel returns the function that cancels a running tool call, by its id, while the turn goes on.
	// It is nil if the call does not run.
	CallCancel(id string) func()
	// TerminalCancel returns the function that ends the command in the background whose terminal has that id.
	// It is nil if there is none. The function may block for a short time.
	TerminalCancel(id string) func()
	// SetMode changes the mode for the following calls. The error is a
	// *ParamsError if there is no such mode.
	SetMode(id string) error
	// SetOption changes an option, or the mode, for the following model calls.
	// The error is a *ParamsError if there is no such option or value.
	SetOption(id string, value OptionValue) error
	// Opened is called when the client has received the session's id. Only then
	// may updates be sent.
	Opened()
	// Sync stores the changes of SetMode and SetOption, and sends the client
	// the updates that their answers lack. It may block; ctx is the
	// connection's.
	Sync(ctx context.Context)
	// Close removes the session, so that Find no longer returns it, and cancels
	// its turns. Stored data remains. wait waits for the turns to end; until
	// then Load does not open the session again.
	Close() (wait func(context.Context) error)
}

// Turn is a prompt's place in its session's queue.
type Turn interface {
	// Run waits for its place, runs the prompt and sends all its updates. It returns
	// ErrTurnCancelled if the turn was cancelled.
	Run(p Prompt) (StopReason, error)
	// End frees the place. It is called once, after the response is written: no
	// frame of the next turn may precede it.
	End()
}

// Prompt is what a turn runs.
type Prompt struct {
	Content []ContentBlock
	Caller  Trace  // the span of the client that the prompt belongs to
	Key     string // names the prompt across retries; may be empty
	// Joins says that a text joins the running turn, unless a prompt before it waits for the end
	// of that turn.
	Joins bool
	// Inserted, if not nil, is called once the prompt has its place in the conversation and is
	// stored, under the id of its message. The work continues when it returns. joined means that
	// the prompt joined an earlier turn, so Run returns. Without a call, the prompt is not part
	// of the conversation, and the error of Run says why.
	Inserted func(messageID string, joined bool)
}

// Steering is a text that waits to be added to a turn.
type Steering interface {
	// Wait waits until the turn's model can see the text. The error is ErrNoTurn if the
	// turn ended first, or the reason why the turn did not accept the text. If ctx ends
	// first, the text is withdrawn.
	Wait(ctx context.Context) error
	// Answered is called once the client has the outcome. The turn waits for it.
	Answered()
}

// NewSessionRequest opens a session:
// https://agentclientprotocol.com/protocol/v1/session-setup
type NewSessionRequest struct {
	CWD                   string // absolute
	MCPServers            []MCPServer
	AdditionalDirectories []string      // absolute
	SystemPrompt          *SystemPrompt // nil if the client sends none
	Meta                  SessionMeta
}

// decode parses the params of session/new.
func (p *NewSessionRequest) decode(raw []byte) error {
	o := objectOf(raw, "", "cwd", "mcpServers", "additionalDirectories", "systemPrompt", "_meta")
	var err error
	if p.CWD, err = o.nonEmptyString("cwd"); err != nil {
		return err
	}
	if !filepath.IsAbs(p.CWD) {
		return ParamsErrorf("cwd", "must be an absolute path, got %q", p.CWD)
	}
	if p.AdditionalDirectories, err = o.strings("additionalDirectories"); err != nil {
		return err
	}
	for i, d := range p.AdditionalDirectories {
		if !filepath.IsAbs(d) {
			return ParamsErrorf(fmt.Sprintf("additionalDirectories[%d]", i), "must be an absolute path, got %q", d)
		}
	}
	servers, err := o.named("mcpServers")
	if err != nil {
		return err
	}
	for _, n := range servers {
		m, err := decodeServer(n)
		if err != nil {
			return err
		}
		p.MCPServers = append(p.MCPServers, m)
	}
	if o.has("systemPrompt") {
		if p.SystemPrompt, err = decodeSystemPrompt(o.members["systemPrompt"]); err != nil {
			return err
		}
	}
	p.Meta.decode(o.members["_meta"])
	return nil
}

// SessionMeta are the members of _meta that the agent uses. Mistakes in _meta never
// fail a request.
type SessionMeta struct {
	// MCPWait is how long the first prompt waits for MCP servers that are starting; nil
	// means that the client does not say.
	MCPWait   *time.Duration
	MessageID string // of session/fork, for clients that cannot send it as a param
}

// maxMCPWait bounds how long a prompt waits for MCP servers.
const maxMCPWait = 5 * time.Minute

// decode reads the known members and ignores mistakes.
func (m *SessionMeta) decode(b []byte) {
	var ms int64
	if json.Unmarshal(trimZeroFraction(member(b, "mcpStartupAwaitTimeoutMs")), &ms) == nil && ms >= 0 {
		m.MCPWait = new(time.Duration(min(ms, maxMCPWait.Milliseconds())) * time.Millisecond)
	}
	_ = json.Unmarshal(member(b, "messageId"), &m.MessageID) // otherwise it stays empty
}

// MCPServer is an MCP server that the client adds to the session. Type
// determines which fields are set.
type MCPServer struct {
	Type    string // stdio, http or sse
	Name    string
	Command string
	Args    []string
	Env     []EnvVariable
	URL     string
	Headers []EnvVariable
}

// decodeServer parses an MCP server. A server without a type has the one that fits its
// members.
func decodeServer(n namedValue) (MCPServer, error) {
	m := MCPServer{Name: n.name}
	if kind := jsonKind(n.value); kind != "object" && kind != "null" {
		return m, ParamsErrorf(n.field, "must be an object, not %s", kind)
	}
	o := objectOf(n.value, n.field, "type", "command", "args", "env", "url", "headers")
	if m.Name == "" {
		return m, ParamsErrorf(n.field+".name", "is required")
	}
	if o.has("type") {
		var err error
		if m.Type, err = o.requiredString("type"); err != nil {
			return m, err
		}
	}
	if m.Type == "" && o.has("url") && !o.has("command") {
		m.Type = "http"
	}
	var err [4]error
	switch m.Type {
	case "", "stdio":
		m.Type = "stdio"
		m.Command, err[0] = o.nonEmptyString("command")
	case "streamable-http", "streamableHttp": // the names of MCP
		m.Type = "http"
		fallthrough
	case "http", "sse":
		m.URL, err[0] = o.nonEmptyString("url")
	default:
		return m, ParamsErrorf(n.field+".type", "unknown type %q", m.Type)
	}
	m.Args, err[1] = o.strings("args")
	m.Env, err[2] = o.variables("env")
	m.Headers, err[3] = o.variables("headers")
	return m, cmp.Or(err[:]...)
}

// LoadSessionRequest opens a stored session: session/load and session/resume.
type LoadSessionRequest struct {
	sessionRequest
	NewSessionRequest
}

// ID returns the id of the session to load.
func (p *LoadSessionRequest) ID() string { return *p.SessionID }

// decode parses the params of session/load and session/resume.
func (p *LoadSessionRequest) decode(raw []byte) error {
	id, err := objectOf(raw, "", "sessionId").requiredString("sessionId")
	if err != nil {
		return err
	}
	p.SessionID = &id
	return p.NewSessionRequest.decode(raw)
}

// SessionState holds the settings of a session that a client shows. The mode is
// there twice, because clients read either form.
type SessionState struct {
	Modes         SessionModeState `json:"modes"`
	ConfigOptions []ConfigOption   `json:"configOptions"`
}

// NewSessionResponse holds the session's id and its settings.
type NewSessionResponse struct {
	SessionID string `json:"sessionId"`
	SessionState
}

// SessionModeState holds the current mode of a session and the available ones.
type SessionModeState struct {
	CurrentModeID  string        `json:"currentModeId"`
	AvailableModes []SessionMode `json:"availableModes"`
}

// SessionMode is a working mode of the agent.
type SessionMode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// newSession answers session/new. No update of the session is sent before the
// response: some clients hang on one, others drop it.
func (s *Server) newSession(ctx context.Context, p NewSessionRequest) (secondPhase, error) {
	return openPhase(func() (Session, error) { return s.Sessions.New(ctx, s.client, p) }, func(sess Session) any {
		return NewSessionResponse{sess.ID(), sess.State()}
	}), nil
}

// loadSession answers session/load, after the history of the session.
func (s *Server) loadSession(ctx context.Context, p LoadSessionRequest) (secondPhase, error) {
	return s.reopenPhase(ctx, s.Sessions.Load, p, stateOf), nil
}

// resumeSession answers session/resume.
func (s *Server) resumeSession(ctx context.Context, p LoadSessionRequest) (secondPhase, error) {
	resume := func(ctx context.Context, _ *Replay, p LoadSessionRequest) (Session, error) {
		return s.Sessions.Resume(ctx, s.client, p)
	}
	return s.reopenPhase(ctx, resume, p, stateOf), nil
}

func stateOf(sess Session) any { return sess.State() }

// reopenFunc opens a stored session again.
type reopenFunc = func(context.Context, *Replay, LoadSessionRequest) (Session, error)

// reopenPhase returns a second phase that opens a stored session again. Updates that the replay holds back
// follow the response.
func (s *Server) reopenPhase(ctx context.Context, reopen reopenFunc, p LoadSessionRequest, response func(Session) any) secondPhase {
	r := s.client.replay(p.ID())
	w := openPhase(func() (Session, error) {
		sess, err := reopen(ctx, r, p)
		if err != nil {
			err = sessionError{p.ID(), err}
		}
		return sess, err
	}, response)
	opened := w.sent
	w.sent = func(ctx context.Context) {
		r.end()
		opened(ctx)
	}
	return w
}

// openPhase returns a second phase that opens a session, and calls Opened after the
// response.
func openPhase(open func() (Session, error), response func(Session) any) secondPhase {
	var sess Session
	return secondPhase{
		run: func() (any, error) {
			opened, err := open()
			if err != nil {
				return nil, err
			}
			sess = opened
			return response(sess), nil
		},
		sent: func(context.Context) {
			if sess != nil {
				sess.Opened()
			}
		},
	}
}

// sessionRequest holds the params of methods that name a session.
type sessionRequest struct {
	SessionID *string `json:"sessionId"`
}

func (p *sessionRequest) validate() error {
	if p.SessionID == nil {
		return ParamsErrorf("sessionId", "is required")
	}
	return nil
}

// find returns the session of a request.
func (s *Server) find(p sessionRequest) (Session, error) {
	sess, err := s.Sessions.Find(*p.SessionID)
	if err != nil {
		return nil, sessionError{*p.SessionID, err}
	}
	return sess, nil
}

type setModeRequest struct {
	sessionRequest
	ModeID *string `json:"modeId"`
}

func (p *setModeRequest) validate() error {
	if p.ModeID == nil {
		return ParamsErrorf("modeId", "is required")
	}
	return p.sessionRequest.validate()
}

// setMode answers session/set_mode, in frame order, even during a turn.
func (s *Server) setMode(_ context.Context, p setModeRequest) (secondPhase, error) {
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return secondPhase{}, err
	}
	return secondPhase{sent: sess.Sync}, sess.SetMode(*p.ModeID)
}

// closeSession answers session/close. The session is closed in frame order, and the
// response follows the prompt's response.
func (s *Server) closeSession(ctx context.Context, p sessionRequest) (secondPhase, error) {
	sess, err := s.find(p)
	if err != nil {
		return secondPhase{}, err
	}
	wait := sess.Close()
	return secondPhase{run: func() (any, error) { return nil, wait(ctx) }}, nil
}

// deleteSession answers session/delete in the same order as closeSession.
func (s *Server) deleteSession(ctx context.Context, p sessionRequest) (secondPhase, error) {
	if sess, err := s.find(p); err == nil {
		sess.Close() // Delete waits
	}
	return secondPhase{run: func() (any, error) { return nil, s.Sessions.Delete(ctx, *p.SessionID) }}, nil
}
