package acp

import (
	"context"
	"fmt"
)

// AuthMethod is a way to authenticate: of agent type, which is done by
// authenticate, or of type "terminal", which a client does by running the agent
// with Args: https://agentclientprotocol.com/protocol/v1/authentication
type AuthMethod struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Type        string    `json:"type,omitempty"` // empty means agent
	Args        []string  `json:"args,omitempty"`
	Meta        *AuthMeta `json:"_meta,omitempty"`
}

// AuthMeta names the command that older clients run in a terminal.
type AuthMeta struct {
	Terminal struct {
		Label   string            `json:"label"`
		Command string            `json:"command"` // absolute path
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	} `json:"terminal-auth"`
}

// authAPIKey stands first, since some clients call authenticate with the first
// method unasked; it succeeds at once when there is anything to work with.
var authAPIKey = AuthMethod{
	ID:          "api-key",
	Name:        "API key",
	Description: "Uses the provider's key from the environment or from login; without one an Ollama on this machine, else the built-in provider, which needs none.",
}

// authLogin is the command login, for clients that have a terminal for it.
var authLogin = AuthMethod{
	ID:          "login",
	Name:        "Log in",
	Description: "Asks in a terminal for a provider and its key, and stores it.",
}

// authMethods are the methods that a client can use.
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
		return paramsErrorf("methodId", "is required")
	}
	if id := *p.MethodID; id != authAPIKey.ID && id != authLogin.ID {
		return paramsErrorf("methodId", "unknown method %q, there are %q and %q", id, authAPIKey.ID, authLogin.ID)
	}
	return nil
}

// authenticate succeeds when there is something to work with.
func (s *Server) authenticate(_ context.Context, p authenticateRequest) (work, error) {
	return work{run: func() (any, error) {
		err := s.Ready()
		if err != nil && *p.MethodID == authLogin.ID {
			// Clients should run it themselves, but some ask for it here.
			err = fmt.Errorf("%w; login is done in a terminal, not here: run it there, then try again", err)
		}
		if err != nil {
			return nil, fmt.Errorf("authenticate: %w", err)
		}
		return nil, nil
	}}, nil
}

// logout forgets the stored keys. What needs one, a prompt in an open session
// too, is refused until there is one again.
func (s *Server) logout(context.Context, struct{}) (work, error) {
	if s.Logout == nil {
		return work{}, fmt.Errorf("%w: logout", errUnknownMethod)
	}
	return work{run: func() (any, error) { return nil, s.Logout() }}, nil
}
