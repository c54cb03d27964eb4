package acp

import (
	"encoding/json"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// SessionUpdate is the variable part of session/update: one of the types below.
type SessionUpdate interface{ sessionUpdate() }

func (MessageChunk) sessionUpdate()     {}
func (ToolCall) sessionUpdate()         {}
func (PlanUpdate) sessionUpdate()       {}
func (UsageUpdate) sessionUpdate()      {}
func (CommandsUpdate) sessionUpdate()   {}
func (ModeUpdate) sessionUpdate()       {}
func (OptionsUpdate) sessionUpdate()    {}
func (InfoUpdate) sessionUpdate()       {}
func (Notice) sessionUpdate()           {}
func (CompactionUpdate) sessionUpdate() {}
func (SubagentUpdate) sessionUpdate()   {}
func (SessionMessage) sessionUpdate()   {}
func (PlanRemoved) sessionUpdate()      {}
func (TerminalUpdate) sessionUpdate()   {}
func (TerminalChunk) sessionUpdate()    {}
func (FileChanges) sessionUpdate()      {}

// Kinds of session updates.
const (
	UpdateUserMessage   = "user_message_chunk"
	UpdateAgentMessage  = "agent_message_chunk"
	UpdateAgentThought  = "agent_thought_chunk"
	UpdateToolCall      = "tool_call"
	UpdateToolCallPatch = "tool_call_update"
	UpdatePlan          = "plan"
	UpdatePlanContent   = "plan_update"
	UpdatePlanRemoved   = "plan_removed"
	UpdateUsage         = "usage_update"
	UpdateCommands      = "available_commands_update"
	UpdateMode          = "current_mode_update"
	UpdateOptions       = "config_option_update"
	UpdateInfo          = "session_info_update"
	UpdateNotice        = "notice"
	UpdateCompaction    = "compaction_update"
	UpdateSubagent      = "subagent_update"
	UpdateSessionText   = "session_message"
)

// MessageChunk is a part of a message. Chunks of one message share its id.
type MessageChunk struct {
	Update    string       `json:"sessionUpdate"` // UpdateUserMessage, UpdateAgentMessage or UpdateAgentThought
	Content   ContentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
	// Words reports that the text is the user's or the model's own. Such a text is sent as it is;
	// see [Server.Exit].
	Words bool `json:"-"`
}

// ToolCall announces a tool call (UpdateToolCall, which needs a title) or
// changes one (UpdateToolCallPatch: an empty member stays unchanged, a list is
// replaced as a whole). Without Update it is the toolCall of a permission
// request.
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
	// Cancel says whether the client may cancel the call from now on; nil changes nothing. The log and version 1 of
	// the protocol do not have it.
	Cancel *bool `json:"-"`
	// Terminal is the state of the terminal that Content embeds. The log and version 1 of the protocol have it in
	// _meta.
	Terminal *TerminalUpdate `json:"_meta,omitempty"`
}

// ToolStatus is the state of a tool call.
type ToolStatus string

// The states of a tool call.
const (
	ToolPending    ToolStatus = "pending"
	ToolInProgress ToolStatus = "in_progress"
	ToolCompleted  ToolStatus = "completed"
	ToolFailed     ToolStatus = "failed"
	ToolCancelled  ToolStatus = "cancelled" // in version 1 of the protocol it is failed
)

// Final reports whether a call with this status has ended.
func (s ToolStatus) Final() bool {
	return s == ToolCompleted || s == ToolFailed || s == ToolCancelled
}

// ToolContent is a part of a tool call that a client shows. Type selects the
// members.
type ToolContent struct {
	Type       string        `json:"type"`                 // content, diff, terminal or session
	Content    *ContentBlock `json:"content,omitempty"`    // content
	TerminalID string        `json:"terminalId,omitempty"` // terminal
	SessionID  string        `json:"sessionId,omitempty"`  // session: a known one; only for clients with Subagents

	// The members of a diff; see [filechange.Change].

	Path      string  `json:"path,omitempty"`
	OldText   *string `json:"oldText,omitempty"`
	NewText   *string `json:"newText,omitempty"`
	Operation string  `json:"operation,omitempty"` // empty if the texts show that it is add or modify
	OldPath   string  `json:"oldPath,omitempty"`
	FileType  string  `json:"fileType,omitempty"`
	OldLine   int     `json:"oldLine,omitempty"`
	NewLine   int     `json:"newLine,omitempty"`
	Cut       bool    `json:"cut,omitempty"`
}

// SessionContent is the Type of a reference to another session.
const SessionContent = "session"

// BlockContent returns a block as a part of a tool call.
func BlockContent(b ContentBlock) ToolContent { return ToolContent{Type: "content", Content: &b} }

// MarshalJSON writes the form that the log of a session has. It is also the form of version 1 of the protocol
// for parts that this version can show.
func (c ToolContent) MarshalJSON() ([]byte, error) {
	type plain ToolContent // without this method
	if c.Type == "diff" {
		return c.marshalDiff()
	}
	return plainjson.Marshal(plain(c))
}

// ToolCallLocation is a place in a file.
type ToolCallLocation struct {
	Path string `json:"path"`           // absolute
	Line int    `json:"line,omitempty"` // 1-based
}

// UsageUpdate reports the size of the context, in tokens, and the cost of the
// session so far.
type UsageUpdate struct {
	Update string `json:"sessionUpdate"` // UpdateUsage
	Used   int    `json:"used"`
	Size   int    `json:"size"`
	Cost   *Cost  `json:"cost,omitempty"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217, or a unit of the provider
}

// CommandsUpdate replaces the list of slash commands.
type CommandsUpdate struct {
	Update            string    `json:"sessionUpdate"` // UpdateCommands
	AvailableCommands []Command `json:"availableCommands"`
}

// Command is a slash command that the user can type as "/name rest".
type Command struct {
	Name        string        `json:"name"` // without the slash
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitempty"` // nil for a command without arguments
}

// CommandInput describes the arguments.
type CommandInput struct {
	Hint string `json:"hint"`
}

// ModeUpdate names the current mode of the session.
type ModeUpdate struct {
	Update        string `json:"sessionUpdate"` // UpdateMode
	CurrentModeID string `json:"currentModeId"`
}

// OptionsUpdate lists all config options with their current values.
type OptionsUpdate struct {
	Update        string         `json:"sessionUpdate"` // UpdateOptions
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// InfoUpdate changes the description of this session in lists. An empty member
// stays unchanged.
type InfoUpdate struct {
	Update    string    `json:"sessionUpdate"` // UpdateInfo
	Title     string    `json:"title,omitempty"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// Notice shows the user a text that is not part of the conversation. It may
// only be sent to clients with [ClientCapabilities].Notices.
type Notice struct {
	Update      string `json:"sessionUpdate"` // UpdateNotice
	Severity    string `json:"severity"`      // info, warning or error
	Title       string `json:"title"`         // not empty
	Description string `json:"description,omitempty"`
}

// CompactionUpdate reports the state of a compaction of the context. Updates
// with one id belong to one compaction; an empty member stays unchanged. It may
// only be sent to clients with [ClientCapabilities].Compaction.
type CompactionUpdate struct {
	Update       string           `json:"sessionUpdate"` // UpdateCompaction
	CompactionID string           `json:"compactionId"`
	Status       CompactionStatus `json:"status"`
	Summary      []ContentBlock   `json:"summary,omitempty"` // replaces the messages
	Error        string           `json:"error,omitempty"`   // why it failed
}

// CompactionStatus is the state of a compaction.
type CompactionStatus string

// The states of a compaction.
const (
	CompactionInProgress CompactionStatus = "in_progress"
	CompactionCompleted  CompactionStatus = "completed"
	CompactionFailed     CompactionStatus = "failed"
	CompactionCancelled  CompactionStatus = "cancelled"
)
