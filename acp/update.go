package acp

import "encoding/json"

// SessionUpdate is the variable part of session/update: a [MessageChunk], a
// [ToolCall] or a [UsageUpdate].
type SessionUpdate interface{ sessionUpdate() }

func (MessageChunk) sessionUpdate() {}
func (ToolCall) sessionUpdate()     {}
func (UsageUpdate) sessionUpdate()  {}

// Kinds of session updates.
const (
	UpdateAgentMessage  = "agent_message_chunk"
	UpdateAgentThought  = "agent_thought_chunk"
	UpdateToolCall      = "tool_call"
	UpdateToolCallPatch = "tool_call_update"
	UpdateUsage         = "usage_update"
)

// MessageChunk is a piece of a message. Chunks of one message share its id.
type MessageChunk struct {
	Update    string       `json:"sessionUpdate"` // UpdateAgentMessage or UpdateAgentThought
	Content   ContentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// ToolCall announces a tool call (UpdateToolCall, which needs a title), or
// changes one (UpdateToolCallPatch: what is empty stays as it is; lists are
// replaced whole). Without Update it is the toolCall of a permission request.
type ToolCall struct {
	Update     string             `json:"sessionUpdate,omitempty"`
	ToolCallID string             `json:"toolCallId"`
	Title      string             `json:"title,omitempty"`
	Name       string             `json:"name,omitempty"`
	Kind       string             `json:"kind,omitempty"`
	Status     ToolStatus         `json:"status,omitempty"`
	Content    []ToolContent      `json:"content,omitempty"`
	Locations  []ToolCallLocation `json:"locations,omitempty"`
	RawInput   json.RawMessage    `json:"rawInput,omitempty"`
	RawOutput  any                `json:"rawOutput,omitempty"`
	Meta       *ToolMeta          `json:"_meta,omitempty"`
}

// ToolStatus is the state of a tool call.
type ToolStatus string

// The states of a tool call.
const (
	ToolPending    ToolStatus = "pending"
	ToolInProgress ToolStatus = "in_progress"
	ToolCompleted  ToolStatus = "completed"
	ToolFailed     ToolStatus = "failed"
)

// ToolContent is a piece of what a client shows of a tool call; Type tells which
// members count.
type ToolContent struct {
	Type       string        `json:"type"`                 // content, diff or terminal
	Content    *ContentBlock `json:"content,omitempty"`    // content
	Path       string        `json:"path,omitempty"`       // diff: absolute
	OldText    *string       `json:"oldText,omitempty"`    // diff: nil for a new file
	NewText    *string       `json:"newText,omitempty"`    // diff
	TerminalID string        `json:"terminalId,omitempty"` // terminal
}

// ToolCallLocation is a place in a file.
type ToolCallLocation struct {
	Path string `json:"path"`           // absolute
	Line int    `json:"line,omitempty"` // 1-based
}

// ToolMeta carries the convention by which agents show output of commands that
// they run themselves, for clients that say _meta.terminal_output.
type ToolMeta struct {
	Info   *TerminalInfo  `json:"terminal_info,omitempty"`
	Output *TerminalBytes `json:"terminal_output,omitempty"`
	Exit   *TerminalExit  `json:"terminal_exit,omitempty"`
}

// TerminalInfo opens such a terminal.
type TerminalInfo struct {
	TerminalID string `json:"terminal_id"`
	CWD        string `json:"cwd,omitempty"`
}

// TerminalBytes is more output of it.
type TerminalBytes struct {
	TerminalID string `json:"terminal_id"`
	Data       string `json:"data"`
}

// TerminalExit ends it.
type TerminalExit struct {
	TerminalID string  `json:"terminal_id"`
	ExitCode   *int    `json:"exit_code"`
	Signal     *string `json:"signal"`
}

// UsageUpdate tells how full the context is, in tokens.
type UsageUpdate struct {
	Update string `json:"sessionUpdate"` // UpdateUsage
	Used   int    `json:"used"`
	Size   int    `json:"size"`
}
