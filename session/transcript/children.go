package transcript

import (
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
)

// children are the child sessions of the open calls of a replay. On nil, all methods do
// nothing.
type children struct {
	parent string // the session's id
	sendAs func(session string, u acp.SessionUpdate) error
	calls  map[string]acp.ToolCall // the announced calls, by their ids
	steps  map[string][]Step       // by the id of the call that delegated the task
}

func (c *children) announce(u acp.ToolCall) {
	if c != nil {
		c.calls[u.ToolCallID] = u
	}
}

func (c *children) add(s Step) {
	if c != nil && s.Caller != "" && s.Shown != nil {
		c.steps[s.ToolCallID] = append(c.steps[s.ToolCallID], s)
	}
}

func (c *children) clear() {
	if c != nil {
		clear(c.calls)
		clear(c.steps)
	}
}

// sendChild sends the child session of a call that delegated a task: the task, the calls
// without their results, and the report. An empty report means that the child session was
// interrupted.
func (r *replayer) sendChild(call, report string) {
	if r.children == nil || len(r.children.steps[call]) == 0 {
		return
	}
	steps, shown := r.children.steps[call], r.children.calls[call]
	delete(r.children.steps, call)
	_, name, _ := strings.Cut(steps[0].Caller, "/") // the log may belong to another session
	parent, reason := r.children.parent, acp.StopEndTurn
	id := parent + "/" + name
	send := func(u acp.SessionUpdate) {
		if r.err == nil {
			r.err = r.children.sendAs(id, u)
		}
	}
	r.update(acp.SubagentUpdate{
		Update: acp.UpdateSubagent, SessionID: id, Title: shown.Title, State: &acp.SubagentState{State: acp.SubagentRunning},
	})
	var input struct{ Task string }
	if json.Unmarshal(shown.RawInput, &input) == nil && input.Task != "" {
		send(acp.SessionMessage{
			Update: acp.UpdateSessionText, MessageID: call + "-task", Sender: parent, Recipient: id,
			Content: []acp.ContentBlock{acp.TextBlock(input.Task)},
		})
	}
	failed := map[string]bool{}
	for _, s := range steps {
		failed[s.Shown.ToolCallID] = s.Shown.Status == acp.ToolFailed
	}
	for _, s := range steps {
		send(*s.Shown)
		if !failed[s.Shown.ToolCallID] {
			send(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: s.Shown.ToolCallID, Status: acp.ToolCompleted})
		}
	}
	if report == "" {
		reason = acp.StopCancelled
	} else {
		send(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: call + "-report", Content: acp.TextBlock(report[:FittingLen(report)])})
	}
	r.update(acp.SubagentUpdate{
		Update: acp.UpdateSubagent, SessionID: id, State: &acp.SubagentState{State: acp.SubagentIdle, StopReason: reason},
	})
}
