package agent

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// record returns a Record that passes on only the costs: the other events of a
// subturn are not part of the conversation.
func (in *subturn) record(record func(...transcript.Event)) func(...transcript.Event) {
	return func(events ...transcript.Event) {
		for _, e := range events {
			if a, ok := e.(transcript.Answer); ok && a.Usage != nil {
				a.Shown = nil
				record(a)
			}
		}
	}
}

// showStart records the child session of a subturn, and announces it with its task to a client
// that shows child sessions.
func (t *turn) showStart(ctx context.Context, d executors.Delegation) error {
	parent, task := t.sub.parent, transcript.Child{ToolCallID: t.sub.parent.call.ID, Caller: t.caller(), MessageID: t.NewID(), Task: d.Task}
	parent.Record(task)
	if parent.SendAs == nil {
		return nil
	}
	u := acp.SubagentUpdate{
		Update: acp.UpdateSubagent, SessionID: task.Caller, Title: parent.call.Card.Title,
		Capabilities: acp.Set(acp.SubagentCapabilities{Cancel: &struct{}{}}), State: &acp.SubagentState{State: acp.SubagentRunning},
	}
	if d.Dir != "" {
		u.CWD, u.Directories = acp.Set(d.Dir), acp.Set([]string{})
	}
	if err := parent.Send(ctx, u); err != nil {
		return err
	}
	parent.mu.Lock()
	parent.children = append(parent.children, task.Caller)
	parent.mu.Unlock()
	parent.sendProgress(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: task.ToolCallID, Content: parent.content(nil)})
	sent, received := task.Message(t.Session, task.Caller)
	if err := parent.Send(ctx, sent); err != nil {
		return err
	}
	return t.Send(ctx, received)
}

// showReturn shows the client that the child session no longer works in a copy of the project.
func (t *turn) showReturn(d executors.Delegation) {
	if d.Dir != "" {
		t.showChild(acp.SubagentUpdate{CWD: acp.Cleared[string](), Directories: acp.Cleared[[]string]()})
	}
}

// showEnd records the end of the child session, and shows the client the report and that the
// child is idle, even after a cancel.
func (t *turn) showEnd(ctx context.Context, reason acp.StopReason, err error, report string) {
	end := transcript.ChildEnd{ToolCallID: t.sub.parent.call.ID, Caller: t.caller(), Reason: reason}
	switch {
	case ctx.Err() != nil:
		end.Reason = acp.StopCancelled
	case err != nil:
		end.Reason, end.Error = "", acp.NewSubagentError(err)
	case reason != acp.StopCancelled && report != "":
		end.MessageID, end.Report = t.NewID(), report
	}
	parent := t.sub.parent
	parent.Record(end)
	if parent.SendAs == nil {
		return
	}
	if end.Report != "" {
		sent, received := end.Message(end.Caller, t.Session)
		_ = t.Send(ctx, sent) // the client gets the report as the result, too
		parent.sendProgress(received)
	}
	t.showChild(acp.SubagentUpdate{Capabilities: acp.Cleared[acp.SubagentCapabilities](), State: acp.IdleState(end.Reason, end.Error)})
}

// showChild sends an update about the child session, if the client shows child sessions.
func (t *turn) showChild(u acp.SubagentUpdate) {
	if parent := t.sub.parent; parent.SendAs != nil {
		u.Update, u.SessionID = acp.UpdateSubagent, t.caller()
		parent.sendProgress(u)
	}
}

// showAsked shows the client that a question about the call was opened or answered. A call that
// is shown only as a step is announced first: a question is always about a known call.
func (r *runningCall) showAsked(open bool) {
	switch {
	case r.sub == nil:
	case open && r.shownAsSteps():
		r.mu.Lock()
		first := r.silent
		r.silent = false
		r.mu.Unlock()
		if first {
			r.sendProgress(r.announcement())
		}
	case open:
		r.ask(1)
	default:
		r.ask(-1)
	}
}

// ask shows the client that one more question about the child's calls is open, or one less.
func (t *turn) ask(change int) {
	t.sub.asking.Lock()
	defer t.sub.asking.Unlock()
	was := t.sub.asked
	t.sub.asked += change
	switch {
	case was == 0:
		t.showChild(acp.SubagentUpdate{State: &acp.SubagentState{State: acp.SubagentRequiresAction}})
	case t.sub.asked == 0:
		t.showChild(acp.SubagentUpdate{State: &acp.SubagentState{State: acp.SubagentRunning}})
	}
}

// send returns the Send of the child session. If the client shows no child sessions, it
// passes on notices and the results of calls that the user was asked about. Other
// updates are dropped: the calls are shown as steps.
func (in *subturn) send(send func(context.Context, acp.SessionUpdate) error) func(context.Context, acp.SessionUpdate) error {
	if as := in.parent.SendAs; as != nil {
		return func(ctx context.Context, u acp.SessionUpdate) error { return as(ctx, in.caller, u) }
	}
	return func(ctx context.Context, u acp.SessionUpdate) error {
		switch u.(type) {
		case acp.ToolCall, acp.TerminalUpdate, acp.TerminalChunk, acp.Notice:
			return send(ctx, u)
		}
		return nil
	}
}
