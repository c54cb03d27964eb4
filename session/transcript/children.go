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
	of     map[string][]*child     // by the id of the call that delegated the task
}

// child is a child session in the log.
type child struct {
	Child
	steps []Step
	end   *ChildEnd // nil if the child was interrupted, or if the log is of an earlier version
	old   bool      // the log is of an earlier version, which recorded only steps
}

func (c *children) announce(u acp.ToolCall) {
	if c != nil {
		c.calls[u.ToolCallID] = u
	}
}

// find returns the child session of a call.
func (c *children) find(call, caller string) *child {
	for _, known := range c.of[call] {
		if known.Caller == caller {
			return known
		}
	}
	added := &child{Child: Child{ToolCallID: call, Caller: caller}, old: true}
	c.of[call] = append(c.of[call], added)
	return added
}

// add adds an event of a child session.
func (c *children) add(e Event) {
	if c == nil {
		return
	}
	switch e := e.(type) {
	case Child:
		*c.find(e.ToolCallID, e.Caller) = child{Child: e}
	case ChildEnd:
		c.find(e.ToolCallID, e.Caller).end = &e
	case Step:
		if e.Caller != "" && e.Shown != nil {
			known := c.find(e.ToolCallID, e.Caller)
			known.steps = append(known.steps, e)
		}
	}
}

func (c *children) clear() {
	if c != nil {
		clear(c.calls)
		clear(c.of)
	}
}

// sendChildren sends the child sessions of a call that delegated tasks: each with its task, its calls
// without their results, and its report. An empty report means that the call was interrupted. It
// returns the content that refers to them.
func (r *replayer) sendChildren(call, report string) (references []acp.ToolContent) {
	if r.children == nil {
		return nil
	}
	for _, c := range r.children.of[call] {
		if c.old {
			c.complete(r.children.calls[call], report)
		}
		references = append(references, acp.ToolContent{Type: acp.SessionContent, SessionID: r.sendChild(c)})
	}
	delete(r.children.of, call)
	return references
}

// complete adds what an earlier version did not record.
func (c *child) complete(call acp.ToolCall, report string) {
	var input struct{ Task string }
	_ = json.Unmarshal(call.RawInput, &input) // otherwise the task is unknown
	c.MessageID, c.Task = c.ToolCallID+"-task", input.Task
	if report != "" {
		c.end = &ChildEnd{MessageID: c.ToolCallID + "-report", Report: report, Reason: acp.StopEndTurn}
	}
}

// sendChild sends one child session, and returns its id. The client may change nothing there.
func (r *replayer) sendChild(c *child) string {
	_, name, _ := strings.Cut(c.Caller, "/") // the log may belong to another session
	parent := r.children.parent
	id := parent + "/" + name
	send := func(u acp.SessionUpdate) {
		if r.err == nil {
			r.err = r.children.sendAs(id, u)
		}
	}
	r.update(acp.SubagentUpdate{
		Update: acp.UpdateSubagent, SessionID: id, Title: r.children.calls[c.ToolCallID].Title,
		Capabilities: acp.Cleared[acp.SubagentCapabilities](),
	})
	if c.Task != "" {
		sent, received := c.Message(parent, id)
		r.update(sent)
		send(received)
	}
	ended := map[string]bool{}
	for _, s := range c.steps {
		ended[s.Shown.ToolCallID] = s.Shown.Status.Final()
	}
	for _, s := range c.steps {
		send(*s.Shown)
		if !ended[s.Shown.ToolCallID] {
			send(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: s.Shown.ToolCallID, Status: acp.ToolCompleted})
		}
	}
	end := ChildEnd{Reason: acp.StopCancelled}
	if c.end != nil {
		end = *c.end
	}
	if end.Report != "" {
		sent, received := end.Message(id, parent)
		send(sent)
		r.update(received)
	}
	r.update(acp.SubagentUpdate{Update: acp.UpdateSubagent, SessionID: id, State: acp.IdleState(end.Reason, end.Error)})
	return id
}
