package acp

import (
	"context"
	"fmt"
)

// AuthMethod is a way to authenticate: https://agentclientprotocol.com/protocol/v1/authentication.
// If its type is agent, the client calls authenticate. If it is "terminal", the client runs the
// agent with Args in a terminal.
type AuthMethod struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Type        string    `json:"type,omitempty"` // empty means agent
	Args        []string  `json:"args,omitempty"`
	Meta        *AuthMeta `json:"_meta,omitempty"`
}

// AuthMeta is the command that older clients run in a terminal.
type AuthMeta struct {
	Terminal struct {
		Label   string            `json:"label"`
		Command string            `json:"command"` // absolute path
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	} `json:"terminal-auth"`
}

// authAPIKey is the first method, because some clients call authenticate with
// the first one without asking. It succeeds immediately if a turn can run.
var authAPIKey = AuthMethod{
	ID:   "api-key",
	Name: "API key",
	Description: "Uses the provider's key from the environment or from login. Without a key it uses Ollama on this " +
		"machine, else the built-in provider, which needs no key.",
}

// authLogin runs the command login, for clients with a terminal.
var authLogin = AuthMethod{
	ID:          "login",
	Name:        "Log in",
	Description: "Asks in a terminal for a provider and its key, and stores it.",
}

// authMethods returns the methods that a client can use.
func (s *Server) authMethods(c ClientCapabilities) []AuthMethod {
	login := authLogin
	switch {
	case c.AuthTerminal:
		login.Type, login.Args = "terminal", []string{"login"}
	case c.MetaTerminalAuth && s.Command != "":
		login.Meta = &AuthMeta{}
		t := &login.Meta.Terminal
		t.Label, t.Command, t.Args, t.Env = login.Name, s.Command, []string{"login"}, map[string]string{}
	default:
		return []AuthMethod{authAPIKey}
	}
	return []AuthMethod{authAPIKey, login}
}

type authenticateRequest struct {
	MethodID *string `json:"methodId"`
}

func (p *authenticateRequest) validate() error {
	if p.MethodID == nil {
		return ParamsErrorf("methodId", "is required")
	}
	if id := *p.MethodID; id != authAPIKey.ID && id != authLogin.ID {
		return ParamsErrorf("methodId", "unknown method %q, there are %q and %q", id, authAPIKey.ID, authLogin.ID)
	}
	return nil
}

// authenticate succeeds if a turn can run.
func (s *Server) authenticate(_ context.Context, p authenticateRequest) (secondPhase, error) {
	return secondPhase{run: func() (any, error) {
		err := s.Ready()
		if err != nil && *p.MethodID == authLogin.ID {
			// Clients should run it themselves, but some call authenticate
			// instead.
			err = fmt.Errorf("%w; login is done in a terminal, not here: run it there, then try again", err)
		}
		if err != nil {
			return nil, fmt.Errorf("authenticate: %w", err)
		}
		return nil, nil
	}}, nil
}

// logout deletes the stored keys. Until a key is stored again, requests that need one are
// refused, in open sessions too.
func (s *Server) logout(context.Context, struct{}) (secondPhase, error) {
	if s.Logout == nil {
		return secondPhase{}, fmt.Errorf("%w: logout", errUnknownMethod)
	}
	return secondPhase{run: func() (any, error) { return nil, s.Logout() }}, nil
}
