package acp

import "encoding/json"

// Patch is a member of an update: unchanged (the zero value), cleared, or a new value.
type Patch[T any] struct {
	changed bool
	value   *T // nil clears the member
}

// Set returns the patch that sets a member.
func Set[T any](v T) Patch[T] { return Patch[T]{true, &v} }

// Cleared returns the patch that clears a member.
func Cleared[T any]() Patch[T] { return Patch[T]{changed: true} }

// IsZero reports whether the member stays unchanged, so that it is omitted.
func (p Patch[T]) IsZero() bool { return !p.changed }

// MarshalJSON writes null for a cleared member.
func (p Patch[T]) MarshalJSON() ([]byte, error) { return json.Marshal(p.value) }

// SubagentUpdate announces a child session of this session, or changes its description.
// It may only be sent to clients with [ClientCapabilities].Subagents, before any update of
// the child or message that names it: https://agentclientprotocol.com/protocol/v1/subagents
type SubagentUpdate struct {
	Update       string                      `json:"sessionUpdate"` // UpdateSubagent
	SessionID    string                      `json:"sessionId"`     // of the child
	Title        string                      `json:"title,omitempty"`
	Description  string                      `json:"description,omitempty"`
	Capabilities Patch[SubagentCapabilities] `json:"capabilities,omitzero"` // cleared: the client may only read
	State        *SubagentState              `json:"state,omitempty"`
	// CWD is where the child works, absolute, and Directories its other roots. Cleared, they
	// are the parent's.
	CWD         Patch[string]   `json:"cwd,omitzero"`
	Directories Patch[[]string] `json:"additionalDirectories,omitzero"`
}

// after returns the update that has the effect of an earlier one and this one.
func (u SubagentUpdate) after(earlier SubagentUpdate) SubagentUpdate {
	change(&earlier.Title, u.Title)
	change(&earlier.Description, u.Description)
	if !u.Capabilities.IsZero() {
		earlier.Capabilities = u.Capabilities
	}
	if u.State != nil {
		earlier.State = u.State
	}
	if !u.CWD.IsZero() {
		earlier.CWD = u.CWD
	}
	if !u.Directories.IsZero() {
		earlier.Directories = u.Directories
	}
	return earlier
}

// SubagentCapabilities lists what the client may do with a child session.
type SubagentCapabilities struct {
	Cancel *struct{} `json:"cancel,omitempty"` // session/cancel, which ends the work of the child but not the child
}

// SubagentState is the present work of a child session. An update replaces all of it.
type SubagentState struct {
	State      string         `json:"state"`                // one of the constants below
	StopReason StopReason     `json:"stopReason,omitempty"` // why it is idle; empty if that has no name
	Error      *SubagentError `json:"error,omitempty"`      // with SubagentFailed
}

// SubagentError is the reason why the work of a child failed.
type SubagentError struct {
	Code    int    `json:"code"` // as of a JSON-RPC error
	Message string `json:"message"`
}

// The states of a child session.
const (
	SubagentRunning        = "running"
	SubagentRequiresAction = "requires_action" // one of its questions is open
	SubagentIdle           = "idle"
)

// SubagentFailed is the stop reason of a child whose work failed. No response to a prompt
// has it.
const SubagentFailed StopReason = "error"

// IdleState returns the state of a child whose work ended for a reason, or failed.
func IdleState(reason StopReason, failure *SubagentError) *SubagentState {
	if failure != nil {
		reason = SubagentFailed
	}
	return &SubagentState{State: SubagentIdle, StopReason: reason, Error: failure}
}

// NewSubagentError returns the form of an error in the state of a child; nil for nil.
func NewSubagentError(err error) *SubagentError {
	if err == nil {
		return nil
	}
	wire := wireError(err)
	return &SubagentError{int(wire.Code), wire.Message}
}

// SessionMessage is one side's view of a message from one session to another. Each view
// names the message id of the other one. Like SubagentUpdate it needs a capability.
type SessionMessage struct {
	Update    string `json:"sessionUpdate"` // UpdateSessionText
	MessageID string `json:"messageId"`     // in the session that shows it
	Sender    string `json:"senderSessionId,omitempty"`
	Recipient string `json:"recipientSessionId,omitempty"`
	// SenderMessageID is the sender's id of a message that this session received, and
	// RecipientMessageID the recipient's id of one that it sent.
	SenderMessageID    string         `json:"senderMessageId,omitempty"`
	RecipientMessageID string         `json:"recipientMessageId,omitempty"`
	Content            []ContentBlock `json:"content"`
}

// NewSessionMessage returns the views of a message in the sender's and in the recipient's
// session, which both know it by the same id.
func NewSessionMessage(id, sender, recipient, text string) (sent, received SessionMessage) {
	sent = SessionMessage{
		Update: UpdateSessionText, MessageID: id, Sender: sender, Recipient: recipient, Content: []ContentBlock{TextBlock(text)},
	}
	received = sent
	sent.RecipientMessageID, received.SenderMessageID = id, id
	return sent, received
}
