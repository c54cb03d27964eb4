package acp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// initialize2 answers initialize in version 2. The answer is written on the read goroutine, so that no
// other answer precedes it.
func (s *Server) initialize2(p InitializeRequest) secondPhase {
	if _, again := s.client.dialect.(*version2); !again {
		s.client.dialect = newVersion2()
		s.stream.version2.Store(true)
	}
	r := wireInitialize{ProtocolVersion: 2, Info: s.Agent, AuthMethods: s.loginMethods(p.ClientCapabilities)}
	if len(s.Extensions) > 0 {
		r.Capabilities.Meta = &AgentMeta{}
		r.Capabilities.Meta.Zeph.Methods = slices.Sorted(maps.Keys(s.Extensions))
	}
	return secondPhase{result: r}
}

// loginMethods returns the methods that a client can use. Without Logout there are none: a list obliges
// to auth/logout.
func (s *Server) loginMethods(c ClientCapabilities) []wireAuthMethod {
	out := []wireAuthMethod{}
	if s.Logout == nil {
		return out
	}
	for _, m := range s.authMethods(c) {
		w := wireAuthMethod{"agent", m.ID, m.Name, m.Description, m.Args}
		if m.Type != "" {
			w.Type = m.Type
		}
		out = append(out, w)
	}
	return out
}

// login2 answers auth/login. A method of the terminal is the client's to run.
func (s *Server) login2(ctx context.Context, p authenticateRequest) (secondPhase, error) {
	if *p.MethodID == authLogin.ID {
		return secondPhase{}, ParamsErrorf("methodId", "%q runs in a terminal: start the agent with its args there", authLogin.ID)
	}
	return s.authenticate(ctx, p)
}

// checkServers checks what version 2 demands of MCP servers beyond version 1.
func checkServers(raw []byte, servers []MCPServer) error {
	items, err := objectOf(raw, "", "mcpServers").array("mcpServers")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, m := range servers {
		field := fmt.Sprintf("mcpServers[%d]", i)
		kind := objectOf(items[i], field, "type")
		if _, err := kind.nonEmptyString("type"); err != nil {
			return err
		}
		switch {
		case kind.optionalString("type") != m.Type || m.Type == "sse":
			return ParamsErrorf(field+".type", "unknown type %q", kind.optionalString("type"))
		case seen[m.Name]:
			return ParamsErrorf(field+".name", "%q is there twice", m.Name)
		case m.Type == "stdio" && !filepath.IsAbs(m.Command):
			return ParamsErrorf(field+".command", "must be an absolute path, got %q", m.Command)
		}
		seen[m.Name] = true
	}
	return nil
}

type newSession2Request struct{ NewSessionRequest }

func (p *newSession2Request) decode(raw []byte) error {
	if err := p.NewSessionRequest.decode(raw); err != nil {
		return err
	}
	return checkServers(raw, p.MCPServers)
}

// newSession2 answers session/new.
func (s *Server) newSession2(ctx context.Context, p newSession2Request) (secondPhase, error) {
	d := s.client.dialect.(*version2)
	return openPhase(func() (Session, error) { return s.Sessions.New(ctx, s.client, p.NewSessionRequest) }, func(sess Session) any {
		d.created(sess.ID())
		return setupOf(sess, sess.ID())
	}), nil
}

// setupOf returns the result of a method that opens a session.
func setupOf(sess Session, id string) wireSetup {
	return wireSetup{id, wireOptionsOf(sess.State().ConfigOptions), wireCommandsOf(sess.Commands())}
}

// resumeSession2Request opens a stored session, with its history if it says from where.
type resumeSession2Request struct {
	LoadSessionRequest
	replay bool
}

func (p *resumeSession2Request) decode(raw []byte) error {
	o := objectOf(raw, "", "replayFrom")
	if o.has("replayFrom") {
		from := objectOf(o.members["replayFrom"], "replayFrom", "type")
		kind, err := from.requiredString("type")
		if err != nil {
			return err
		}
		if kind != "start" {
			return ParamsErrorf("replayFrom.type", "unknown cursor %q", kind)
		}
		p.replay = true
	}
	if err := p.LoadSessionRequest.decode(raw); err != nil {
		return err
	}
	return checkServers(raw, p.MCPServers)
}

// resumeSession2 answers session/resume: after the history, if the client wants it, and the present
// state of the session. Work goes on after the response.
func (s *Server) resumeSession2(ctx context.Context, p resumeSession2Request) (secondPhase, error) {
	d := s.client.dialect.(*version2)
	reopen := func(ctx context.Context, r *Replay, load LoadSessionRequest) (Session, error) {
		sess, err := s.Sessions.Load(ctx, r, load)
		if err == nil {
			err = d.completeReplay(s.client, p.ID())
		}
		return sess, err
	}
	if !p.replay {
		reopen = func(ctx context.Context, r *Replay, load LoadSessionRequest) (Session, error) {
			sess, err := s.Sessions.Resume(ctx, s.client, load)
			if err == nil {
				_, err = r.Begin(ctx)
			}
			if err == nil {
				err = d.showState(s.client, p.ID())
			}
			return sess, err
		}
	}
	return s.reopenPhase(ctx, reopen, p.LoadSessionRequest, func(sess Session) any { return setupOf(sess, "") }), nil
}

// setOption2Request sets a config option. Unlike in version 1, it names the type of the value.
type setOption2Request struct{ setOptionRequest }

func (p *setOption2Request) decode(raw []byte) error {
	kind, err := objectOf(raw, "", "type").requiredString("type")
	if err != nil {
		return err
	}
	if kind != "id" && kind != "boolean" {
		return ParamsErrorf("type", "must be id or boolean, got %q", kind)
	}
	if err := p.setOptionRequest.decode(raw); err != nil {
		return err
	}
	if p.value.Bool != (kind == "boolean") {
		return ParamsErrorf("value", "is not of the type %s", kind)
	}
	return nil
}

// setOption2 answers session/set_config_option like setOption.
func (s *Server) setOption2(ctx context.Context, p setOption2Request) (secondPhase, error) {
	w, err := s.setOption(ctx, p.setOptionRequest)
	if err == nil {
		w.result = wireOptions{ConfigOptions: wireOptionsOf(w.result.(setOptionResponse).ConfigOptions)}
	}
	return w, err
}

// closeSession2 answers session/close. An unknown session is closed already; a child session closes
// with its parent alone.
func (s *Server) closeSession2(ctx context.Context, p sessionRequest) (secondPhase, error) {
	if _, err := s.find(p); err == nil {
		return s.closeSession(ctx, p)
	}
	if parent := rootOf(*p.SessionID); strings.Contains(*p.SessionID, "/") {
		if _, err := s.Sessions.Find(parent); err == nil {
			return secondPhase{}, ParamsErrorf("sessionId", "is of a child session, which cannot be closed")
		}
	}
	return secondPhase{}, nil
}

type cancelToolCallRequest struct {
	sessionRequest
	ToolCallID *string `json:"toolCallId"`
}

func (p *cancelToolCallRequest) validate() error {
	if p.ToolCallID == nil {
		return ParamsErrorf("toolCallId", "is required")
	}
	return p.sessionRequest.validate()
}

// cancelToolCall answers tool_call/cancel.
func (s *Server) cancelToolCall(_ context.Context, p cancelToolCallRequest) (secondPhase, error) {
	return s.cancelWork(p.sessionRequest, "toolCallId", *p.ToolCallID, "", Session.CallCancel)
}

type cancelTerminalRequest struct {
	sessionRequest
	TerminalID *string `json:"terminalId"`
}

func (p *cancelTerminalRequest) validate() error {
	if p.TerminalID == nil {
		return ParamsErrorf("terminalId", "is required")
	}
	return p.sessionRequest.validate()
}

// cancelTerminal answers terminal/cancel.
func (s *Server) cancelTerminal(_ context.Context, p cancelTerminalRequest) (secondPhase, error) {
	return s.cancelWork(p.sessionRequest, "terminalId", "", *p.TerminalID, Session.TerminalCancel)
}

// cancelWork cancels a tool call or a terminal, if the client was offered that. Updates show the outcome.
func (s *Server) cancelWork(p sessionRequest, field, call, terminal string, find func(Session, string) func()) (secondPhase, error) {
	sess, err := s.find(sessionRequest{new(rootOf(*p.SessionID))})
	if err != nil {
		return secondPhase{}, err
	}
	var cancel func()
	if s.client.dialect.(*version2).offersCancel(*p.SessionID, call, terminal) {
		cancel = find(sess, call+terminal)
	}
	if cancel == nil {
		return secondPhase{}, ParamsErrorf(field, "%q cannot be cancelled", call+terminal)
	}
	return secondPhase{sent: func(context.Context) { cancel() }}, nil
}
