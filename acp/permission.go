package acp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// RequestPermissionRequest asks the user whether a tool call may run:
// https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission
type RequestPermissionRequest struct {
	SessionID string             `json:"sessionId"`
	ToolCall  ToolCall           `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
}

// PermissionOption is one answer that the user may choose.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"` // allow_once, allow_always, reject_once or reject_always
}

// PermissionOutcome is the user's answer. OptionID is empty if there is no
// answer: "cancelled" means that the turn is cancelled, not that the user
// rejects the call.
type PermissionOutcome struct {
	Outcome  string // selected or cancelled
	OptionID string
	Reason   string // the user's words about the answer, from ReasonMeta; usually empty
}

// UnmarshalJSON decodes a permission response. The names of members must match the schema
// exactly: encoding/json would ignore the case, so that "Outcome" could replace
// "outcome".
func (o *PermissionOutcome) UnmarshalJSON(data []byte) error {
	*o = PermissionOutcome{}
	if reason := member(data, "_meta", ReasonMeta); jsonKind(reason) == "string" {
		_ = json.Unmarshal(reason, &o.Reason) // it is a string
	}
	for name, to := range map[string]*string{"outcome": &o.Outcome, "optionId": &o.OptionID} {
		if raw := member(data, "outcome", name); raw != nil {
			if err := json.Unmarshal(raw, to); err != nil {
				return fmt.Errorf("outcome.%s: %w", name, wrongType(err))
			}
		}
	}
	return nil
}

// ReasonMeta is the member of a permission response's _meta with the user's reason for
// the answer, a text.
const ReasonMeta = "zeph-acp/reason"

// CreateTerminalRequest starts a command in the client's terminal.
type CreateTerminalRequest struct {
	SessionID       string        `json:"sessionId"`
	Command         string        `json:"command" texts:"-"`
	Args            []string      `json:"args,omitempty" texts:"-"`
	Env             []EnvVariable `json:"env,omitempty" texts:"-"`
	CWD             string        `json:"cwd,omitempty" texts:"-"`   // absolute
	OutputByteLimit int           `json:"outputByteLimit,omitempty"` // bytes to keep: of the tail, or of head and tail in parts
}

// EnvVariable is an environment variable of a command.
type EnvVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// TerminalOutput is the output of a terminal.
type TerminalOutput struct {
	Output     string      `json:"output"`
	Truncated  bool        `json:"truncated"`
	ExitStatus *ExitStatus `json:"exitStatus"` // nil while the command runs
	Meta       *OutputPart `json:"_meta,omitempty"`
}

// OutputPart is the part of a terminal's output that a request asks for, or that follows an answer. Only
// clients with [ClientCapabilities.OutputParts] know it.
type OutputPart struct {
	From int64 `json:"from"` // offset in bytes
}

// ExitStatus is the exit status of a command. If both fields are nil, the
// client does not report it.
type ExitStatus struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

// Known reports whether the client reports how the command ended.
func (s ExitStatus) Known() bool { return s.ExitCode != nil || s.Signal != nil }

// UnmarshalJSON also accepts an exit code such as 0.0, and the number of a signal. Some
// clients report the signal 0 for a command that ended by itself, and the exit code 0 for
// one that a signal ended.
func (s *ExitStatus) UnmarshalJSON(raw []byte) error {
	var wire struct {
		ExitCode json.RawMessage `json:"exitCode"`
		Signal   json.RawMessage `json:"signal"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return err
	}
	*s = ExitStatus{}
	if wire.ExitCode != nil {
		if err := json.Unmarshal(trimZeroFraction(wire.ExitCode), &s.ExitCode); err != nil {
			return fmt.Errorf("exitCode: %w", wrongType(err))
		}
	}
	signal := strings.Trim(string(wire.Signal), `"`)
	number, err := strconv.Atoi(string(trimZeroFraction([]byte(signal))))
	switch {
	case signal == "", signal == "null", err == nil && number == 0:
		return nil
	case err == nil:
		signal = "signal " + strconv.Itoa(number)
	case json.Unmarshal(wire.Signal, &signal) != nil:
		return nil // neither a text nor a number
	}
	s.Signal = &signal
	if s.ExitCode != nil && *s.ExitCode == 0 && (err == nil || strings.HasPrefix(signal, "SIG")) {
		s.ExitCode = nil
	}
	return nil
}
