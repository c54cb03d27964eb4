package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
)

// Implementation is the name and version of a program.
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
	ClientInfo         Implementation     `json:"clientInfo"`
}

// decode parses the params of initialize. An optional member of the wrong type counts as absent. A
// client that offers version 2 sends version 2 params, and continues with version 1 if the answer
// names it.
func (p *InitializeRequest) decode(raw []byte) error {
	o := objectOf(raw, "", "protocolVersion", "clientCapabilities", "clientInfo", "capabilities", "info")
	if !o.has("protocolVersion") {
		return ParamsErrorf("protocolVersion", "is required")
	}
	p.ProtocolVersion = bytes.Clone(o.members["protocolVersion"])
	version, err := strconv.ParseUint(string(trimZeroFraction(p.ProtocolVersion)), 10, 16)
	if err != nil {
		return ParamsErrorf("protocolVersion", "must be an integer from 0 to 65535, got %s", p.ProtocolVersion)
	}
	of := func(member, inVersion2 string) json.RawMessage {
		if version > Version && !o.has(member) {
			return o.members[inVersion2]
		}
		return o.members[member]
	}
	info := objectOf(of("clientInfo", "info"), "clientInfo", "name", "title", "version")
	p.ClientInfo = Implementation{info.optionalString("name"), info.optionalString("title"), info.optionalString("version")}
	capabilities := of("clientCapabilities", "capabilities")
	err = p.ClientCapabilities.UnmarshalJSON(capabilities)
	if version > Version && jsonKind(member(capabilities, "auth", "terminal")) == "object" { // true in version 1
		p.ClientCapabilities.AuthTerminal = true
	}
	return err
}

// InitializeResponse lists the capabilities of the agent.
type InitializeResponse struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AuthMethods       []AuthMethod      `json:"authMethods"`
	AgentInfo         Implementation    `json:"agentInfo"`
	Meta              InitializeMeta    `json:"_meta"`
}

// InitializeMeta lists the extension methods that other agents also support.
type InitializeMeta struct {
	Steering struct {
		Supported bool `json:"supported"` // _session/steering
	} `json:"steering"`
}

// initialize answers with our version, regardless of the client's, as the protocol
// demands. It may be called again.
func (s *Server) initialize(_ context.Context, p InitializeRequest) (secondPhase, error) {
	s.client.initialized.Store(&p)
	w := secondPhase{run: func() (any, error) {
		r := InitializeResponse{
			ProtocolVersion:   Version,
			AgentCapabilities: s.capabilities(),
			AuthMethods:       s.authMethods(p.ClientCapabilities),
			AgentInfo:         s.Agent,
		}
		r.Meta.Steering.Supported = true
		return r, nil
	}}
	if s.Initialized != nil {
		w.sent = func(context.Context) { s.Initialized() }
	}
	return w, nil
}
