package acp

import (
	"encoding/base64"
	"encoding/json"
)

// The values of version 2 on the wire, where they differ from the neutral ones. Of a value with the
// form that the neutral type has, such as a notice, there is no type here.
// Source: schema 1.20.0 of version 2.

// wireUpdate is one session/update.
type wireUpdate struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

type wireInitialize struct {
	ProtocolVersion int              `json:"protocolVersion"`
	Info            Implementation   `json:"info"`
	Capabilities    wireCapabilities `json:"capabilities"`
	AuthMethods     []wireAuthMethod `json:"authMethods"`
}

type marker struct{}

type wireCapabilities struct {
	Session struct {
		Prompt struct {
			Image           marker `json:"image"`
			EmbeddedContext marker `json:"embeddedContext"`
		} `json:"prompt"`
		MCP struct {
			Stdio marker `json:"stdio"`
			HTTP  marker `json:"http"`
		} `json:"mcp"`
		Delete                marker `json:"delete"`
		AdditionalDirectories marker `json:"additionalDirectories"`
		SystemPrompt          struct {
			Mode struct {
				Override marker `json:"override"`
			} `json:"mode"`
		} `json:"systemPrompt"`
	} `json:"session"`
	Meta *AgentMeta `json:"_meta,omitempty"`
}

type wireAuthMethod struct {
	Type        string   `json:"type"` // agent or terminal
	MethodID    string   `json:"methodId"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Args        []string `json:"args,omitempty"`
}

// wireSetup is the result of session/new and session/resume.
type wireSetup struct {
	SessionID         string        `json:"sessionId,omitempty"` // of session/new
	ConfigOptions     []wireOption  `json:"configOptions"`
	AvailableCommands []wireCommand `json:"availableCommands"`
}

type wireOptions struct {
	Update        string       `json:"sessionUpdate,omitempty"`
	ConfigOptions []wireOption `json:"configOptions"`
}

type wireOption struct {
	ConfigID     string         `json:"configId"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Category     string         `json:"category,omitempty"`
	Type         string         `json:"type"`
	CurrentValue any            `json:"currentValue"`
	Options      []ConfigChoice `json:"options,omitempty"`
}

func wireOptionsOf(all []ConfigOption) []wireOption {
	out := []wireOption{}
	for _, o := range all {
		kind, value := o.typeAndValue()
		out = append(out, wireOption{o.ID, o.Name, o.Description, o.Category, kind, value, o.Options})
	}
	return out
}

type wireCommands struct {
	Update            string        `json:"sessionUpdate"`
	AvailableCommands []wireCommand `json:"availableCommands"`
}

type wireCommand struct {
	Type        string            `json:"type"` // command
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Input       *wireCommandInput `json:"input,omitempty"`
}

type wireCommandInput struct {
	Type string `json:"type"` // text
	Hint string `json:"hint"`
}

func wireCommandsOf(all []Command) []wireCommand {
	out := []wireCommand{}
	for _, c := range all {
		w := wireCommand{Type: "command", Name: c.Name, Description: c.Description}
		if c.Input != nil {
			w.Input = &wireCommandInput{"text", c.Input.Hint}
		}
		out = append(out, w)
	}
	return out
}

// wireMessage is a whole message. Its content replaces what the client has of it.
type wireMessage struct {
	Update    string         `json:"sessionUpdate"`
	MessageID string         `json:"messageId"`
	Content   []ContentBlock `json:"content"`
}

type wireChunk struct {
	Update    string       `json:"sessionUpdate"`
	MessageID string       `json:"messageId"`
	Content   ContentBlock `json:"content"`
}

// wholeMessages names the update with a whole message, by the kind of its chunks.
var wholeMessages = map[string]string{
	UpdateUserMessage:  "user_message",
	UpdateAgentMessage: "agent_message",
	UpdateAgentThought: "agent_thought",
}

// wireInserted is the result of session/prompt.
type wireInserted struct {
	MessageID string `json:"messageId"`
}

// wireState is the state of a session's foreground work.
type wireState struct {
	Update     string     `json:"sessionUpdate,omitempty"` // state_update; empty inside of another update
	State      string     `json:"state"`
	StopReason StopReason `json:"stopReason,omitempty"` // why it is idle
	Error      any        `json:"error,omitempty"`      // with the stop reason error
	// Background lists the work in the background. Nil means that there was none so far.
	Background *[]wireWork `json:"background,omitempty"`
}

// wireWork is work in the background.
type wireWork struct {
	Type       string `json:"type"` // terminal
	TerminalID string `json:"terminalId"`
}

// wireSubagent is a SubagentUpdate whose state lists work in the background.
type wireSubagent struct {
	SubagentUpdate
	State wireState `json:"state"`
}

const updateState = "state_update"

// wireCancel are the capabilities of a tool call or a terminal that the client may cancel.
type wireCancel struct {
	Cancel marker `json:"cancel"`
}

var canCancel = wireCancel{}

// wireToolCall creates a tool call or changes it. A member that is nil stays unchanged, and null
// clears it.
type wireToolCall struct {
	Update       string `json:"sessionUpdate,omitempty"` // UpdateToolCallPatch; empty in a question
	ToolCallID   string `json:"toolCallId"`
	Name         any    `json:"name,omitempty"`
	Title        any    `json:"title,omitempty"`
	Kind         any    `json:"kind,omitempty"`
	Status       any    `json:"status,omitempty"`
	Content      any    `json:"content,omitempty"`
	Locations    any    `json:"locations,omitempty"`
	RawInput     any    `json:"rawInput,omitempty"`
	RawOutput    any    `json:"rawOutput,omitempty"`
	Capabilities any    `json:"capabilities,omitempty"`
}

// wireToolCallOf returns a tool call. A whole one clears the members that it lacks: the client may
// have an older state of it.
func wireToolCallOf(u ToolCall, whole bool) wireToolCall {
	member := func(v any, empty bool) any {
		switch {
		case !empty:
			return v
		case whole:
			return null
		}
		return nil
	}
	capabilities := member(canCancel, u.Cancel == nil || !*u.Cancel)
	if u.Cancel != nil && !*u.Cancel {
		capabilities = null
	}
	return wireToolCall{
		ToolCallID:   u.ToolCallID,
		Capabilities: capabilities,
		Name:         member(u.Name, u.Name == ""),
		Title:        member(u.Title, u.Title == ""),
		Kind:         member(u.Kind, u.Kind == ""),
		Status:       member(u.Status, u.Status == ""),
		Content:      member(wireContentOf(u.Content), len(u.Content) == 0),
		Locations:    member(u.Locations, len(u.Locations) == 0),
		RawInput:     member(u.RawInput, u.RawInput == nil),
		RawOutput:    member(u.RawOutput, u.RawOutput == nil),
	}
}

// wireContent is a part of a tool call.
type wireContent struct {
	Type       string        `json:"type"`
	Content    *ContentBlock `json:"content,omitempty"`
	TerminalID string        `json:"terminalId,omitempty"`
	SessionID  string        `json:"sessionId,omitempty"`
	Changes    []wireChange  `json:"changes,omitempty"` // of a diff
	Patch      *wirePatch    `json:"patch,omitempty"`
}

type wireChange struct {
	Operation string `json:"operation"`
	OldPath   string `json:"oldPath,omitempty"`
	Path      string `json:"path"`
	FileType  string `json:"fileType,omitempty"`
}

type wirePatch struct {
	Format string `json:"format"` // git_patch
	Text   string `json:"text"`
}

// wireContentOf returns the parts of a tool call. The parts of a large text are one diff.
func wireContentOf(content []ToolContent) (out []wireContent) {
	for len(content) > 0 {
		c := content[0]
		w := wireContent{Type: c.Type, Content: c.Content, TerminalID: c.TerminalID, SessionID: c.SessionID}
		n := 1
		if c.Type == "diff" {
			parts := FileParts(content)
			n = len(parts)
			w.Changes = []wireChange{{parts[0].Op, parts[0].OldPath, parts[0].Path, parts[0].Type}}
			if patch := GitPatch(parts); patch != "" {
				if parts[0].Old != nil || parts[0].New != nil { // a move does not tell what is in the file
					w.Changes[0].FileType = "text"
				}
				w.Patch = &wirePatch{"git_patch", patch}
			}
		}
		out, content = append(out, w), content[n:]
	}
	return out
}

// wireTerminal shows a terminal of the agent, or changes it. A member that is nil stays unchanged,
// and null clears it.
type wireTerminal struct {
	Update       string `json:"sessionUpdate"` // terminal_update
	TerminalID   string `json:"terminalId"`
	Command      any    `json:"command,omitempty"`
	CWD          any    `json:"cwd,omitempty"`
	Output       any    `json:"output,omitempty"`
	ExitStatus   any    `json:"exitStatus,omitempty"`
	Capabilities any    `json:"capabilities,omitempty"`
}

const updateTerminal = "terminal_update"

type wireBytes struct {
	Data string `json:"data"` // base64
}

type wireTerminalChunk struct {
	Update     string `json:"sessionUpdate"` // terminal_output_chunk
	TerminalID string `json:"terminalId"`
	Data       string `json:"data"` // base64
}

type wireExit struct {
	ExitCode *int    `json:"exitCode,omitempty"`
	Signal   *string `json:"signal,omitempty"`
}

// wireTerminalOf returns an update of a terminal. One of a replay clears what the client may have of an
// earlier connection.
func wireTerminalOf(t TerminalUpdate, replay bool) wireTerminal {
	w := wireTerminal{Update: updateTerminal, TerminalID: t.TerminalID}
	if t.Command != "" {
		w.Command = t.Command
	}
	if t.CWD != "" {
		w.CWD = t.CWD
	}
	if t.Opens && replay {
		w.Output, w.ExitStatus, w.Capabilities = null, null, null
	}
	if t.Background {
		w.Capabilities = canCancel
	}
	if t.Output != nil {
		w.Output = wireBytes{base64.StdEncoding.EncodeToString([]byte(*t.Output))}
	}
	if t.Exit != nil {
		w.ExitStatus = wireExit{t.Exit.ExitCode, t.Exit.Signal}
	}
	return w
}

// commandOf returns the command in the input of a call, or "".
func commandOf(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(input, &in) // otherwise it stays empty
	return in.Command
}

// wireQuestion is a session/request_permission.
type wireQuestion struct {
	SessionID   string             `json:"sessionId"`
	Title       string             `json:"title"`
	Description string             `json:"description,omitempty"`
	Subject     wireSubject        `json:"subject"`
	Options     []PermissionOption `json:"options"`
}

type wireSubject struct {
	Type     string       `json:"type"` // tool_call
	ToolCall wireToolCall `json:"toolCall"`
}
