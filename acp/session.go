package acp

import (
	"context"
	"fmt"
	"path/filepath"
)

// Sessions is what the server needs of sessions. Its methods are called
// concurrently.
type Sessions interface {
	// New opens a session. The request is valid as far as its form goes.
	New(ctx context.Context, client *Client, p NewSessionRequest) (Session, error)
	// Load opens a stored session again, or takes an open one, and sends all
	// that happened in it before it returns. ErrUnknownSession if there is none.
	Load(ctx context.Context, client *Client, p LoadSessionRequest) (Session, error)
	// Resume is Load that sends nothing.
	Resume(ctx context.Context, client *Client, p LoadSessionRequest) (Session, error)
	// List returns a page of the stored sessions, the newest first.
	List(ctx context.Context, p ListSessionsRequest) (ListSessionsResponse, error)
	// Delete closes a session if it is open, waits for it as Close does, and
	// forgets all of it; that there is none is no error.
	Delete(ctx context.Context, id string) error
	// Find returns an open session, else ErrUnknownSession. It does not block.
	Find(id string) (Session, error)
}

// Session is an open session. Its methods are called concurrently; Begin,
// Cancel, SetMode, SetOption and Close on the read goroutine, in frame order. All
// but Sync, and what Close gives, do not block.
type Session interface {
	ID() string
	// State is what the client shows of the session's settings.
	State() SessionState
	// Begin takes a place in the session's queue of turns, which End of the
	// turn returns back.
	Begin(ctx context.Context) Turn
	// Cancel ends the running turn and the queued ones with ErrTurnCancelled;
	// it has no effect on later ones.
	Cancel()
	// SetMode changes the mode for the calls that follow; a *ParamsError if
	// there is no such mode.
	SetMode(id string) error
	// SetOption changes an option, the mode included, for the model calls that
	// follow; a *ParamsError if there is no such option or value.
	SetOption(id string, value OptionValue) error
	// Opened is called when the client knows the session's id: from now on
	// there may be updates.
	Opened()
	// Sync keeps what SetMode and SetOption changed, and tells the client what
	// their answers do not. It may block; ctx is the connection's.
	Sync(ctx context.Context)
	// Close forgets the session, so that Find has it no more, and cancels its
	// turns; what is stored stays. wait waits for the turns to give back their
	// places: until then Load does not open the session again.
	Close() (wait func(context.Context) error)
}

// Turn is a prompt's place in its session's queue.
type Turn interface {
	// Run waits for its place, runs the prompt and sends all its updates. It
	// returns ErrTurnCancelled if the turn was cancelled.
	Run(prompt []ContentBlock) (StopReason, error)
	// End frees the place. It is called once, when the response is written:
	// nothing of the next turn may be written before that.
	End()
}

// NewSessionRequest opens a session:
// https://agentclientprotocol.com/protocol/v1/session-setup
type NewSessionRequest struct {
	CWD                   string      `json:"cwd"` // absolute
	MCPServers            []MCPServer `json:"mcpServers"`
	AdditionalDirectories []string    `json:"additionalDirectories"` // absolute
}

func (p *NewSessionRequest) validate() error {
	if p.CWD == "" {
		return paramsErrorf("cwd", "is required")
	}
	if !filepath.IsAbs(p.CWD) {
		return paramsErrorf("cwd", "must be an absolute path, got %q", p.CWD)
	}
	for i, d := range p.AdditionalDirectories {
		if !filepath.IsAbs(d) {
			return paramsErrorf(fmt.Sprintf("additionalDirectories[%d]", i), "must be an absolute path, got %q", d)
		}
	}
	for i, m := range p.MCPServers {
		if err := m.validate(fmt.Sprintf("mcpServers[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// MCPServer is an MCP server that the client wants in the session. Which fields
// are set depends on Type.
type MCPServer struct {
	Type    string        `json:"type"` // empty means stdio; else http or sse
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Args    []string      `json:"args"`
	Env     []EnvVariable `json:"env"`
	URL     string        `json:"url"`
	Headers []HTTPHeader  `json:"headers"`
}

func (m MCPServer) validate(field string) error {
	need, value := "command", m.Command
	switch m.Type {
	case "", "stdio":
	case "http", "sse":
		need, value = "url", m.URL
	default:
		return paramsErrorf(field+".type", "unknown type %q", m.Type)
	}
	if m.Name == "" {
		return paramsErrorf(field+".name", "is required")
	}
	if value == "" {
		return paramsErrorf(field+"."+need, "is required")
	}
	for i, v := range m.Env {
		if v.Name == "" {
			return paramsErrorf(fmt.Sprintf("%s.env[%d].name", field, i), "is required")
		}
	}
	for i, h := range m.Headers {
		if h.Name == "" {
			return paramsErrorf(fmt.Sprintf("%s.headers[%d].name", field, i), "is required")
		}
	}
	return nil
}

// HTTPHeader goes with every request to an MCP server.
type HTTPHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// LoadSessionRequest opens a stored session: session/load and session/resume.
type LoadSessionRequest struct {
	sessionRequest
	NewSessionRequest
}

// ID is the id of the session to load.
func (p *LoadSessionRequest) ID() string { return *p.SessionID }

func (p *LoadSessionRequest) validate() error {
	if err := p.sessionRequest.validate(); err != nil {
		return err
	}
	return p.NewSessionRequest.validate()
}

// SessionState is what a client shows of a session's settings. The mode is
// there twice, since clients read either.
type SessionState struct {
	Modes         SessionModeState `json:"modes"`
	ConfigOptions []ConfigOption   `json:"configOptions"`
}

// NewSessionResponse names the session and its settings.
type NewSessionResponse struct {
	SessionID string `json:"sessionId"`
	SessionState
}

// SessionModeState is the mode of a session and those it could have.
type SessionModeState struct {
	CurrentModeID  string        `json:"currentModeId"`
	AvailableModes []SessionMode `json:"availableModes"`
}

// SessionMode is a way for the agent to work.
type SessionMode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// newSession answers session/new. No update of the session goes out before the
// response: some clients hang on one, others drop it.
func (s *Server) newSession(ctx context.Context, p NewSessionRequest) (work, error) {
	return opening(func() (Session, error) { return s.Sessions.New(ctx, s.client, p) }, func(sess Session) any {
		return NewSessionResponse{sess.ID(), sess.State()}
	}), nil
}

// loadSession answers session/load, after all that happened in the session.
func (s *Server) loadSession(ctx context.Context, p LoadSessionRequest) (work, error) {
	return s.reopening(ctx, s.Sessions.Load, p), nil
}

// resumeSession answers session/resume.
func (s *Server) resumeSession(ctx context.Context, p LoadSessionRequest) (work, error) {
	return s.reopening(ctx, s.Sessions.Resume, p), nil
}

func (s *Server) reopening(ctx context.Context, reopen func(context.Context, *Client, LoadSessionRequest) (Session, error), p LoadSessionRequest) work {
	return opening(func() (Session, error) {
		sess, err := reopen(ctx, s.client, p)
		if err != nil {
			err = fmt.Errorf("session %s: %w", p.ID(), err)
		}
		return sess, err
	}, func(sess Session) any { return sess.State() })
}

// opening is work that opens a session, which hears of it when the client does.
func opening(open func() (Session, error), response func(Session) any) work {
	var sess Session
	return work{
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

// sessionRequest is the params of methods that name a session.
type sessionRequest struct {
	SessionID *string `json:"sessionId"`
}

func (p *sessionRequest) validate() error {
	if p.SessionID == nil {
		return paramsErrorf("sessionId", "is required")
	}
	return nil
}

// find returns the session of a request.
func (s *Server) find(p sessionRequest) (Session, error) {
	sess, err := s.Sessions.Find(*p.SessionID)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", *p.SessionID, err)
	}
	return sess, nil
}

type setModeRequest struct {
	sessionRequest
	ModeID *string `json:"modeId"`
}

func (p *setModeRequest) validate() error {
	if p.ModeID == nil {
		return paramsErrorf("modeId", "is required")
	}
	return p.sessionRequest.validate()
}

// setMode answers session/set_mode, in frame order, also during a turn.
func (s *Server) setMode(_ context.Context, p setModeRequest) (work, error) {
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return work{}, err
	}
	return work{sent: sess.Sync}, sess.SetMode(*p.ModeID)
}

// closeSession answers session/close. The session is closed in frame order; the
// response comes after the prompt's.
func (s *Server) closeSession(ctx context.Context, p sessionRequest) (work, error) {
	sess, err := s.find(p)
	if err != nil {
		return work{}, err
	}
	wait := sess.Close()
	return work{run: func() (any, error) { return nil, wait(ctx) }}, nil
}

// deleteSession answers session/delete, like closeSession.
func (s *Server) deleteSession(ctx context.Context, p sessionRequest) (work, error) {
	if sess, err := s.find(p); err == nil {
		sess.Close() // Delete waits
	}
	return work{run: func() (any, error) { return nil, s.Sessions.Delete(ctx, *p.SessionID) }}, nil
}
