package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Sessions is what the server needs of sessions. Its methods are called
// concurrently.
type Sessions interface {
	// New opens a session. The request is valid as far as its form goes.
	New(ctx context.Context, client *Client, p NewSessionRequest) (NewSessionResponse, error)
	// Find gives an open session, else ErrUnknownSession.
	Find(id string) (Session, error)
}

// Session is an open session. Begin, Cancel and SetMode are called on the read
// goroutine and do not block.
type Session interface {
	// Begin takes a place in the session's queue of turns, which End of the
	// turn gives back.
	Begin(ctx context.Context) Turn
	// Cancel ends the running turn and the queued ones with ErrTurnCancelled;
	// it has no effect on later ones.
	Cancel()
	// SetMode changes the mode for the calls that follow; a *ParamsError if
	// there is no such mode.
	SetMode(id string) error
	// Close cancels, waits for the turns to give back their places and forgets
	// the session.
	Close(ctx context.Context) error
}

// Turn is a prompt's place in its session's queue.
type Turn interface {
	// Run waits for its place, runs the prompt and sends all its updates. It
	// returns ErrTurnCancelled if the turn was cancelled.
	Run(prompt []ContentBlock) (StopReason, error)
	// End gives the place back. It is called once, when the response is written:
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
	Type    string            `json:"type"` // empty means stdio; else http or sse
	Name    string            `json:"name"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     []json.RawMessage `json:"env"`
	URL     string            `json:"url"`
	Headers []json.RawMessage `json:"headers"`
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
	return nil
}

// NewSessionResponse names the session and its modes.
type NewSessionResponse struct {
	SessionID string           `json:"sessionId"`
	Modes     SessionModeState `json:"modes"`
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
	return work{run: func() (any, error) { return s.Sessions.New(ctx, s.client, p) }}, nil
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

// find gives the session of a request.
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
	return work{}, sess.SetMode(*p.ModeID)
}

// closeSession answers session/close. The cancel comes in frame order; the
// response after the prompt's.
func (s *Server) closeSession(ctx context.Context, p sessionRequest) (work, error) {
	sess, err := s.find(p)
	if err != nil {
		return work{}, err
	}
	sess.Cancel()
	return work{run: func() (any, error) { return struct{}{}, sess.Close(ctx) }}, nil
}
