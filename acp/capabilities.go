package acp

import (
	"encoding/json"
	"maps"
	"slices"
)

// ClientCapabilities are the capabilities of the client. A member of the wrong
// type and an unknown member count as absent; neither fails initialize.
type ClientCapabilities struct {
	ReadTextFile     bool // fs/read_text_file
	WriteTextFile    bool // fs/write_text_file
	Terminal         bool // terminal/*
	BooleanOptions   bool // config options of type boolean
	Notices          bool // updates of kind notice
	Compaction       bool // updates of kind compaction_*
	Subagents        bool // updates of kind subagent_update and session_message, and updates of child sessions
	PlanOperations   bool // updates of kind plan_update and plan_removed, in place of plan
	ElicitForm       bool // elicitation/create with a form
	ElicitURL        bool // elicitation/create with a URL, elicitation/complete
	AuthTerminal     bool // can run an authentication method in a terminal
	MetaTerminalAuth bool // _meta.terminal-auth: an older form of AuthTerminal
	TerminalOutput   bool // _meta.terminal_output: shows terminals that the agent streams
	OutputParts      bool // _meta.terminal_output_parts: keeps the whole output of a terminal, and returns it in parts
	// BackgroundWork means that the client shows commands that go on after their turn, and can cancel them and
	// single tool calls.
	BackgroundWork bool
	// SavedFilesOnly means that the version of the protocol gives the agent no access to the editor's
	// buffers and terminals.
	SavedFilesOnly bool
	// DismissesQuestions means that the outcome "cancelled" of a permission request is the user's.
	// Otherwise it may also be the first sign that the turn is cancelled.
	DismissesQuestions bool
	CancelRequest      bool // _meta.cancel_request: supports $/cancel_request; the protocol has no member for it
}

// UnmarshalJSON parses the known members and ignores errors in the others.
func (c *ClientCapabilities) UnmarshalJSON(b []byte) error {
	isTrue := func(path ...string) bool { return string(member(b, path...)) == "true" }
	isObject := func(path ...string) bool { return jsonKind(member(b, path...)) == "object" }
	*c = ClientCapabilities{
		ReadTextFile:     isTrue("fs", "readTextFile"),
		WriteTextFile:    isTrue("fs", "writeTextFile"),
		Terminal:         isTrue("terminal"),
		BooleanOptions:   isObject("session", "configOptions", "boolean"),
		Notices:          isObject("session", "notices"),
		Compaction:       isObject("session", "compaction"),
		Subagents:        isObject("subagents"),
		PlanOperations:   isObject("plan"),
		ElicitForm:       isObject("elicitation", "form"),
		ElicitURL:        isObject("elicitation", "url"),
		AuthTerminal:     isTrue("auth", "terminal"),
		MetaTerminalAuth: isTrue("_meta", "terminal-auth"),
		TerminalOutput:   isTrue("_meta", "terminal_output"),
		OutputParts:      isTrue("_meta", "terminal_output_parts"),
		CancelRequest:    isTrue("_meta", "cancel_request"),
	}
	return nil
}

// MarshalJSON writes the form that a client sends.
func (c ClientCapabilities) MarshalJSON() ([]byte, error) {
	type object = map[string]any
	marker := func(on bool) any {
		if on {
			return object{}
		}
		return nil // null counts as absent
	}
	return json.Marshal(object{
		"fs":       object{"readTextFile": c.ReadTextFile, "writeTextFile": c.WriteTextFile},
		"terminal": c.Terminal,
		"session": object{
			"configOptions": object{"boolean": marker(c.BooleanOptions)},
			"notices":       marker(c.Notices),
			"compaction":    marker(c.Compaction),
		},
		"subagents":   marker(c.Subagents),
		"plan":        marker(c.PlanOperations),
		"elicitation": object{"form": marker(c.ElicitForm), "url": marker(c.ElicitURL)},
		"auth":        object{"terminal": c.AuthTerminal},
		"_meta": object{
			"terminal-auth": c.MetaTerminalAuth, "terminal_output": c.TerminalOutput, "terminal_output_parts": c.OutputParts,
			"cancel_request": c.CancelRequest,
		},
	})
}

// AgentCapabilities are the capabilities of the agent. Markers are objects,
// never booleans, which strict clients reject.
type AgentCapabilities struct {
	LoadSession         bool                `json:"loadSession,omitempty"`
	PromptCapabilities  PromptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities `json:"sessionCapabilities"`
	Auth                AuthCapabilities    `json:"auth"`
	Meta                *AgentMeta          `json:"_meta,omitempty"`
}

// PromptCapabilities lists the content that a prompt may have beyond text and resource links. Like
// every false capability, a false member is omitted: some clients only check whether the name is
// present.
type PromptCapabilities struct {
	Image           bool `json:"image,omitempty"`
	Audio           bool `json:"audio,omitempty"`
	EmbeddedContext bool `json:"embeddedContext,omitempty"`
}

// MCPCapabilities lists the transports of MCP servers that a session accepts
// beyond stdio.
type MCPCapabilities struct {
	HTTP bool `json:"http,omitempty"`
	SSE  bool `json:"sse,omitempty"`
}

// SessionCapabilities lists the session methods of the agent.
type SessionCapabilities struct {
	List                  struct{} `json:"list"`
	Delete                struct{} `json:"delete"`
	AdditionalDirectories struct{} `json:"additionalDirectories"`
	Resume                struct{} `json:"resume"`
	Fork                  struct{} `json:"fork"` // not stable yet
	Close                 struct{} `json:"close"`
	SystemPrompt          struct {
		Mode struct {
			Override struct{} `json:"override"`
		} `json:"mode"`
	} `json:"systemPrompt"`
}

// AuthCapabilities lists the authentication methods beyond authenticate.
type AuthCapabilities struct {
	Logout *struct{} `json:"logout,omitempty"`
}

// AgentMeta lists the capabilities of the agent beyond the protocol.
type AgentMeta struct {
	Zeph struct {
		Methods []string `json:"methods"` // extension methods, sorted
	} `json:"zeph"`
}

// capabilities returns the capabilities of the server.
func (s *Server) capabilities() AgentCapabilities {
	c := AgentCapabilities{
		LoadSession:        true,
		PromptCapabilities: PromptCapabilities{Image: true, EmbeddedContext: true},
		MCPCapabilities:    MCPCapabilities{HTTP: true, SSE: true},
	}
	if s.Logout != nil {
		c.Auth.Logout = &struct{}{}
	}
	if len(s.Extensions) > 0 {
		c.Meta = &AgentMeta{}
		c.Meta.Zeph.Methods = slices.Sorted(maps.Keys(s.Extensions))
	}
	return c
}
