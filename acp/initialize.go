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

	version uint64
	members map[string][]byte // of the params, by name
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
	p.members = map[string][]byte{}
	for name, value := range o.members {
		p.members[name] = bytes.Clone(value) // it outlives the line
	}
	version, err := strconv.ParseUint(string(trimZeroFraction(p.ProtocolVersion)), 10, 16)
	if err != nil {
		return ParamsErrorf("protocolVersion", "must be an integer from 0 to 65535, got %s", p.ProtocolVersion)
	}
	p.version = version
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
	if version > Version && !o.has("clientCapabilities") { // such a client has no files and terminals for the agent
		c := &p.ClientCapabilities
		c.ReadTextFile, c.WriteTextFile, c.Terminal = false, false, false
	}
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

// initialize chooses the version of the connection and answers in its form. Version 1 is the answer to
// any client if no other version is served, as the protocol demands. It may be called again.
func (s *Server) initialize(_ context.Context, p InitializeRequest) (secondPhase, error) {
	version, err := s.negotiate(&p)
	if err != nil {
		return secondPhase{}, err
	}
	s.order.initialized, p.members = true, nil
	s.client.initialized.Store(&p)
	var w secondPhase
	if version == 2 {
		w = s.initialize2(p)
	} else {
		w = s.initialize1(p)
	}
	if s.Initialized != nil {
		w.sent = func(context.Context) { s.Initialized() }
	}
	return w, nil
}

// initialize1 answers in version 1.
func (s *Server) initialize1(p InitializeRequest) secondPhase {
	return secondPhase{run: func() (any, error) {
		r := InitializeResponse{
			ProtocolVersion:   Version,
			AgentCapabilities: s.capabilities(),
			AuthMethods:       s.authMethods(p.ClientCapabilities),
			AgentInfo:         s.Agent,
		}
		r.Meta.Steering.Supported = true
		return r, nil
	}}
}
