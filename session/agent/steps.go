package agent

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// addStep records a call of a subturn, as a line of the call that delegated the task. The
// process may end before that call does. If the client does not see the child session, it is shown
// the line.
func (r *runningCall) addStep() {
	if r.sub == nil {
		return
	}
	parent, call := r.sub.parent, r.call
	line := line.Truncate(executors.Shown(call.Tool)+" "+firstLine(call.Card.Title), maxStep)
	parent.Record(transcript.Step{ToolCallID: parent.call.ID, ID: parent.id, Text: line, Caller: r.sub.caller, Shown: &acp.ToolCall{
		Update: acp.UpdateToolCall, ToolCallID: call.ID, Title: call.Card.Title, Name: executors.Shown(call.Tool), Status: acp.ToolPending,
		Kind: string(cmp.Or(call.Card.Kind, call.Spec.Kind, executors.KindOther)), Locations: locations(call.Card.Locations),
	}})
	if !r.shownAsSteps() {
		return
	}
	parent.mu.Lock()
	parent.steps = append(parent.steps, line)
	r.step = len(parent.steps)
	parent.mu.Unlock()
	parent.showSteps()
}

// failStep records that a call of a subturn failed or was cancelled, and marks its line.
func (r *runningCall) failStep(status acp.ToolStatus) {
	if r.sub == nil {
		return
	}
	parent := r.sub.parent
	parent.Record(transcript.Step{ToolCallID: parent.call.ID, ID: parent.id, Caller: r.sub.caller, Shown: &acp.ToolCall{
		Update: acp.UpdateToolCallPatch, ToolCallID: r.call.ID, Status: status,
	}})
	if r.step == 0 {
		return
	}
	parent.mu.Lock()
	parent.steps[r.step-1] += " (failed)"
	parent.mu.Unlock()
	parent.showSteps()
}

// showSteps sends the steps so far, in order.
func (r *runningCall) showSteps() {
	r.showing.Lock()
	defer r.showing.Unlock()
	r.sendProgress(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: r.call.ID, Content: r.content(nil)})
}

// Limits on the steps that are shown.
const (
	maxStep  = 200 // bytes of a line
	maxSteps = 30  // lines
)

// ShownSteps returns the last of the steps of a sub-agent, each as a line.
func ShownSteps(steps []string) string {
	var b strings.Builder
	if left := len(steps) - maxSteps; left > 0 {
		fmt.Fprintf(&b, "… %s\n", quantity.Count(left, "earlier step"))
		steps = steps[left:]
	}
	for _, s := range steps {
		b.WriteString("- " + s + "\n")
	}
	return b.String()
}

// firstLine returns the first line of a title, and marks that others follow.
func firstLine(s string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if more != "" {
		first += " …"
	}
	return cmp.Or(first, "a call")
}
