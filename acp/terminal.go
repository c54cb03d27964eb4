package acp

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// TerminalUpdate opens, fills or ends a terminal that shows a command which the agent runs itself. It may only be sent
// to clients with [ClientCapabilities].TerminalOutput. A member that is not set stays unchanged.
type TerminalUpdate struct {
	TerminalID string
	ToolCallID string // the call whose content embeds the terminal; empty if the update is part of its call
	Opens      bool   // it is the first update of the terminal, and comes with the announcement of its call
	Command    string // for people; empty in logs of earlier versions
	CWD        string // absolute
	// Background says that the command goes on after its call, and may be cancelled. Only for clients with
	// [ClientCapabilities].BackgroundWork.
	Background bool
	// Output is all output, as raw bytes that may not be UTF-8. It comes with the end of a replayed call.
	Output *string
	Exit   *TerminalExit // nil while the command runs
}

// TerminalChunk is further output of a terminal that a [TerminalUpdate] has opened.
type TerminalChunk struct {
	TerminalID, ToolCallID string
	Data                   string // raw bytes, which may not be UTF-8
}

// TerminalExit is how the command of a terminal ended. Both fields are nil if it never ran, or if that is unknown.
type TerminalExit struct {
	TerminalID string  `json:"terminal_id"`
	ExitCode   *int    `json:"exit_code"`
	Signal     *string `json:"signal"`
}

// toolMeta is a terminal in the _meta of a tool call: in the log, and for clients of version 1 of the protocol that
// declare _meta.terminal_output.
type toolMeta struct {
	Info   *terminalInfo  `json:"terminal_info,omitempty"`
	Output *terminalBytes `json:"terminal_output,omitempty"`
	Exit   *TerminalExit  `json:"terminal_exit,omitempty"`
}

type terminalInfo struct {
	TerminalID string `json:"terminal_id"`
	CWD        string `json:"cwd,omitempty"`
	Command    string `json:"command,omitempty"` // in the log
}

type terminalBytes struct {
	TerminalID string `json:"terminal_id"`
	Data       string `json:"data"`
}

// MarshalJSON writes the _meta of a tool call.
func (t TerminalUpdate) MarshalJSON() ([]byte, error) {
	meta := toolMeta{Exit: t.Exit}
	if t.Opens {
		meta.Info = &terminalInfo{TerminalID: t.TerminalID, CWD: t.CWD, Command: t.Command}
	}
	if t.Output != nil {
		meta.Output = &terminalBytes{TerminalID: t.TerminalID, Data: *t.Output}
	}
	return plainjson.Marshal(meta)
}

// UnmarshalJSON reads the _meta of a tool call.
func (t *TerminalUpdate) UnmarshalJSON(data []byte) error {
	var meta toolMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		return err
	}
	*t = TerminalUpdate{Exit: meta.Exit}
	if meta.Info != nil {
		t.TerminalID, t.Opens, t.CWD, t.Command = meta.Info.TerminalID, true, meta.Info.CWD, meta.Info.Command
	}
	if meta.Output != nil {
		t.TerminalID, t.Output = meta.Output.TerminalID, &meta.Output.Data
	}
	if meta.Exit != nil {
		t.TerminalID = meta.Exit.TerminalID
	}
	return nil
}
