package headless

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	subagents "github.com/zeph-acp/zeph-acp/session/agent"
)

// child2 is a child session. Version 1 shows its calls as steps of the call that started it.
type child2 struct {
	session string         // that it belongs to
	call    string         // the call that started it
	steps   []string       // a line for each call
	calls   map[string]int // the numbers of the steps, from 1, by the ids of their calls
}

// root returns the session that a child session belongs to, or the session itself.
func (v *version2) root(session string) string {
	if child := v.children[session]; child != nil {
		return child.session
	}
	return session
}

// follow notes which call has started a child session, and shows a call of a child session as a step.
func (v *version2) follow(session string, child *child2, call acp.ToolCall) {
	for _, c := range call.Content {
		if started := v.children[c.SessionID]; started != nil {
			started.call = call.ToolCallID
		}
	}
	if child == nil {
		return
	}
	n, known := child.calls[call.ToolCallID]
	switch {
	case !known:
		title, _, _ := strings.Cut(call.Title, "\n")
		child.steps = append(child.steps, call.Name+" "+title)
		child.calls[call.ToolCallID] = len(child.steps)
	case call.Status == acp.ToolFailed || call.Status == acp.ToolCancelled:
		child.steps[n-1] += " (failed)"
	default:
		return
	}
	v.show(session, acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: child.call, Content: []acp.ToolContent{child.shown()}})
}

// shown returns the steps as a part of a call.
func (c *child2) shown() acp.ToolContent {
	return acp.BlockContent(acp.TextBlock(subagents.ShownSteps(c.steps)))
}
