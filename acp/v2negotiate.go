package acp

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The values of Config.Protocol.
const (
	Protocol1    = "v1"
	ProtocolAuto = "auto"
	Protocol2    = "v2"
)

// order is what the order of requests depends on.
type order struct {
	initialized bool // initialize has succeeded
	others      bool // there was a request after it
}

// checkOrder returns an error for a request that may not come now. Where version 2 is served, initialize
// comes first, and in version 2 again only before other requests. A server of version 1 alone is as
// lenient as it always was.
func (s *Server) checkOrder(id json.RawMessage, method string) error {
	if s.Config.Protocol == Protocol1 || id == nil {
		return nil
	}
	_, is2 := s.client.dialect.(*version2)
	switch {
	case method != "initialize" && !s.order.initialized:
		return fmt.Errorf("%w: initialize comes first", errInvalidRequest)
	case method == "initialize" && is2 && s.order.others:
		return fmt.Errorf("%w: the connection is initialized already", errInvalidRequest)
	}
	s.order.others = s.order.others || method != "initialize"
	return nil
}

// negotiate returns the version of the connection. It completes the request of a version 2 client.
func (s *Server) negotiate(p *InitializeRequest) (int, error) {
	_, is2 := s.client.dialect.(*version2)
	unsupported := func(served ...int) error { return versionError{p.version, served} }
	switch {
	case s.Config.Protocol == Protocol1, s.order.initialized && !is2:
		return 1, nil
	case is2 && p.version < 2:
		return 0, fmt.Errorf("%w: the connection has version 2", errInvalidRequest)
	case p.version < 2 && s.Config.Protocol == Protocol2:
		return 0, unsupported(2)
	case p.version == 0:
		return 0, unsupported(1, 2)
	case p.version == 1:
		return 1, nil
	case !p.has("info") && (p.has("clientInfo") || p.has("clientCapabilities")) && s.Config.Protocol == ProtocolAuto:
		return 1, nil // it takes version 1 for 2
	}
	return 2, p.as2()
}

// has reports whether the request has a member that is not null.
func (p *InitializeRequest) has(key string) bool {
	return !slices.Contains([]string{"", "null"}, jsonKind(p.members[key]))
}

// as2 reads the client's part of version 2. A client that asks for exactly this version must say who it
// is; of any other, what cannot be read is left out.
func (p *InitializeRequest) as2() error {
	o := objectOf(p.members["info"], "info", "name", "title", "version")
	name, err := o.requiredString("name")
	version, err2 := o.requiredString("version")
	if !p.has("info") {
		err = ParamsErrorf("info", "is required")
	} else if kind := jsonKind(p.members["info"]); kind != "object" {
		err = ParamsErrorf("info", "must be an object, not %s", kind)
	} else if err == nil {
		err = err2
	}
	if err != nil && p.version == 2 {
		return err
	}
	if err != nil {
		name, version = "unknown", "unknown"
	}
	p.ClientInfo = Implementation{name, o.optionalString("title"), version}
	isObject := func(path ...string) bool { return jsonKind(member(p.members["capabilities"], path...)) == "object" }
	// What version 1 asks the client for, every client of version 2 has. Files and terminals are the
	// agent's own.
	p.ClientCapabilities = ClientCapabilities{
		BooleanOptions: true, Notices: true, Compaction: true, Subagents: true, PlanOperations: true,
		ElicitForm: isObject("elicitation", "form"), ElicitURL: isObject("elicitation", "url"),
		AuthTerminal: isObject("auth", "terminal"), TerminalOutput: true, CancelRequest: true, DismissesQuestions: true, SavedFilesOnly: true,
		BackgroundWork: true,
	}
	return nil
}
