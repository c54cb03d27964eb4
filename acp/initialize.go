package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// InitializeRequest opens the connection:
// https://agentclientprotocol.com/protocol/v1/initialization
type InitializeRequest struct {
	ProtocolVersion    json.RawMessage    `json:"protocolVersion"` // an integer from 0 to 65535
	ClientCapabilities ClientCapabilities `json:"clientCapabilities"`
}

func (p *InitializeRequest) validate() error {
	if p.ProtocolVersion == nil {
		return paramsErrorf("protocolVersion", "is required")
	}
	if _, err := strconv.ParseUint(string(p.ProtocolVersion), 10, 16); err != nil {
		return paramsErrorf("protocolVersion", "must be an integer from 0 to 65535, got %s", p.ProtocolVersion)
	}
	return nil
}

// ClientCapabilities is what the client can do. A member of the wrong type
// counts as absent, and so does an unknown one: it never fails initialize.
type ClientCapabilities struct {
	ReadTextFile   bool // fs/read_text_file
	WriteTextFile  bool // fs/write_text_file
	Terminal       bool // terminal/*
	TerminalOutput bool // _meta.terminal_output: shows terminals that the agent streams
}

// UnmarshalJSON reads what it knows and forgives the rest.
func (c *ClientCapabilities) UnmarshalJSON(b []byte) error {
	m := members(b)
	fs, meta := members(m["fs"]), members(m["_meta"])
	*c = ClientCapabilities{
		ReadTextFile:   isTrue(fs["readTextFile"]),
		WriteTextFile:  isTrue(fs["writeTextFile"]),
		Terminal:       isTrue(m["terminal"]),
		TerminalOutput: isTrue(meta["terminal_output"]),
	}
	return nil
}

// MarshalJSON writes what a client that has these capabilities sends.
func (c ClientCapabilities) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"fs":       map[string]bool{"readTextFile": c.ReadTextFile, "writeTextFile": c.WriteTextFile},
		"terminal": c.Terminal,
		"_meta":    map[string]bool{"terminal_output": c.TerminalOutput},
	})
}

// members gives the members of an object, none for anything else.
func members(b []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(b, &m) // what is no object has no members
	return m
}

func isTrue(b []byte) bool { return bytes.Equal(b, []byte("true")) }

// InitializeResponse tells what the agent can do.
type InitializeResponse struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AuthMethods       []AuthMethod      `json:"authMethods"`
	AgentInfo         Implementation    `json:"agentInfo"`
}

// AgentCapabilities is what the agent can do. Markers are objects, never
// booleans: strict clients break on those.
type AgentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  PromptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities `json:"sessionCapabilities"`
}

// PromptCapabilities tells which content a prompt may have beyond text and
// resource links.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// MCPCapabilities tells which MCP servers a session takes beyond stdio.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

// SessionCapabilities tells which session methods there are.
type SessionCapabilities struct {
	Close                 *struct{} `json:"close,omitempty"`
	AdditionalDirectories *struct{} `json:"additionalDirectories,omitempty"`
}

// AuthMethod is a way to authenticate, of agent type.
type AuthMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// authAPIKey stands first, since some clients call authenticate with the first
// method unasked; it succeeds at once when there is anything to work with.
var authAPIKey = AuthMethod{
	ID:          "api-key",
	Name:        "API key",
	Description: "Uses the provider's key from the environment or config.toml, else the built-in provider that needs none.",
}

// initialize answers with our version whatever the client's is, as the protocol
// demands, and may be called again.
func (s *Server) initialize(_ context.Context, p InitializeRequest) (work, error) {
	caps := p.ClientCapabilities
	s.client.caps.Store(&caps)
	return work{run: func() (any, error) {
		return InitializeResponse{
			ProtocolVersion: Version,
			AgentCapabilities: AgentCapabilities{
				PromptCapabilities:  PromptCapabilities{EmbeddedContext: true},
				SessionCapabilities: SessionCapabilities{Close: &struct{}{}, AdditionalDirectories: &struct{}{}},
			},
			AuthMethods: []AuthMethod{authAPIKey},
			AgentInfo:   s.Agent,
		}, nil
	}}, nil
}

type authenticateRequest struct {
	MethodID *string `json:"methodId"`
}

func (p *authenticateRequest) validate() error {
	if p.MethodID == nil {
		return paramsErrorf("methodId", "is required")
	}
	if *p.MethodID != authAPIKey.ID {
		return paramsErrorf("methodId", "unknown method %q, there is %q", *p.MethodID, authAPIKey.ID)
	}
	return nil
}

// authenticate succeeds when there is something to work with.
func (s *Server) authenticate(context.Context, authenticateRequest) (work, error) {
	return work{run: func() (any, error) {
		if err := s.Ready(); err != nil {
			return nil, fmt.Errorf("authenticate: %w", err)
		}
		return struct{}{}, nil
	}}, nil
}
