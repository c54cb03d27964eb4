package ideproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// Approver asks the user of the client; it is a policy.Approver.
type Approver struct {
	Client  *acp.Client
	Session string // of the user
}

// cancelDelay is how long to wait for a cancel of the turn after the answer
// "cancelled".
const cancelDelay = 200 * time.Millisecond

// Approve sends the question with all the details that the user needs to check
// the call: several clients show nothing else.
func (a *Approver) Approve(ctx context.Context, call *executors.Call, options []permission.Option) (string, error) {
	if c := call.Card.Command(); c != executors.Shown(c) {
		// A user cannot check a truncated command, and a frame has a maximum
		// size.
		return "", fmt.Errorf("a command of %s is too long to ask about", quantity.Count(len(c), "byte"))
	}
	var offered []acp.PermissionOption
	for _, o := range options {
		offered = append(offered, acp.PermissionOption{OptionID: o.ID, Kind: o.Kind, Name: o.Name})
	}
	q, client := question(call), quirksOf(a.Client.Info())
	if client.showsCall {
		q.Title = call.Card.Title
	}
	if client.firstDiff {
		q.Content = diffFirst(q.Content, call.Card.Changes)
	}
	if call.Record != nil {
		call.Record.Retitled = q.Title != call.Card.Title
	}
	return a.AskAbout(ctx, call, q, offered)
}

// Ask sends any question and returns the id of the chosen option, empty if the
// question was dismissed. The error is ctx's cause if the turn ends first; any
// other error means that there was no answer.
func (a *Approver) Ask(ctx context.Context, call acp.ToolCall, options []acp.PermissionOption) (string, error) {
	outcome, err := a.ask(ctx, call, options)
	return outcome.OptionID, err
}

// AskAbout is Ask for a question about a call, whose record gets the user's words. The session that
// the client is shown the call in asks it.
func (a *Approver) AskAbout(ctx context.Context, call *executors.Call, shown acp.ToolCall, options []acp.PermissionOption) (string, error) {
	in := *a
	if _, inner := call.InnerCaller(); inner && a.Client.Capabilities().Subagents {
		in.Session = call.Caller
	}
	if call.Notify != nil {
		call.Notify(executors.Event{Status: executors.QuestionOpen})
		defer call.Notify(executors.Event{Status: executors.QuestionClosed})
	}
	outcome, err := in.ask(ctx, shown, options)
	if call.Record != nil {
		call.Record.Reason = strings.TrimSpace(outcome.Reason)
	}
	if refused, ok := errors.AsType[*acp.ClientError](err); ok { // the method means nothing to the user
		err = errors.New(refused.Message)
	}
	return outcome.OptionID, err
}

// ask is Ask with the whole answer.
func (a *Approver) ask(ctx context.Context, call acp.ToolCall, options []acp.PermissionOption) (acp.PermissionOutcome, error) {
	outcome, err := a.Client.RequestPermission(ctx, acp.RequestPermissionRequest{SessionID: a.Session, ToolCall: call, Options: options})
	if err != nil {
		return acp.PermissionOutcome{}, err
	}
	if outcome.Outcome == "cancelled" && !a.Client.Capabilities().DismissesQuestions {
		// It should mean that the turn is cancelled. Some clients send it just
		// before they cancel, others when a question times out. Wait to see
		// which.
		select {
		case <-ctx.Done():
			return acp.PermissionOutcome{}, context.Cause(ctx)
		case <-time.After(cancelDelay):
		}
	}
	switch outcome.Outcome {
	case "selected":
		return outcome, nil
	case "cancelled":
		return acp.PermissionOutcome{}, nil
	case "":
		return acp.PermissionOutcome{}, errors.New("the client's answer has no outcome")
	}
	return acp.PermissionOutcome{}, fmt.Errorf("the client's outcome is %q", outcome.Outcome)
}

// maxTitle is the longest title, in characters, that clients are expected to show whole.
const maxTitle = 80

// question describes the call: its title, which says what will happen, the sub-agent or skill that asks, why the user is asked, and
// then the details: diffs, the command, and what the agent says about it. A title has one line, so a long command,
// and one of several lines, is repeated below it.
func question(call *executors.Call) acp.ToolCall {
	q := acp.ToolCall{
		ToolCallID: call.ID, Name: call.Tool, Title: call.AskedTitle(), Kind: string(call.Card.Kind),
		Status: acp.ToolPending, RawInput: call.ShownInput(),
	}
	text := func(s string) {
		if s != "" {
			q.Content = append(q.Content, acp.BlockContent(acp.TextBlock(s)))
		}
	}
	for _, l := range call.Card.Locations {
		q.Locations = append(q.Locations, acp.ToolCallLocation{Path: l.Path, Line: l.Line})
	}
	text(call.AskedBy())
	if call.Record != nil {
		text(call.Record.WhyAsked())
	}
	for _, c := range call.Card.Changes {
		q.Content = append(q.Content, acp.ChangeContent(c))
	}
	for _, c := range call.Card.Changes {
		if c.New == nil {
			continue
		}
		if hidden := visible.Count(*c.New); len(hidden) > 0 {
			text("The new text has characters that hide or reorder others: " + strings.Join(hidden, ", ") + ".")
		}
	}
	if c := strings.TrimSpace(call.Card.Command()); strings.Contains(c, "\n") || utf8.RuneCountInString(c) > maxTitle {
		text(fenced(c))
	}
	text(executors.Shown(call.Card.Asked))
	if d := modelDescription(call.Input); d != "" {
		text("The agent says: " + d)
	}
	if call.Record != nil {
		text(call.Record.Unasked())
	}
	return q
}

// diffFirst moves the diff of a call to the beginning of the content, if it shows all that the call changes.
func diffFirst(content []acp.ToolContent, changes []filechange.Change) []acp.ToolContent {
	if _, _, whole := filechange.Lines(changes); !whole || len(changes) != 1 {
		return content
	}
	i := slices.IndexFunc(content, func(c acp.ToolContent) bool { return c.Type == "diff" })
	return slices.Concat(content[i:i+1], content[:i], content[i+1:])
}

// modelDescription returns the model's description of the call, or "".
func modelDescription(input json.RawMessage) string {
	var in struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(input, &in) // a value of another type counts as missing
	return executors.Shown(strings.TrimSpace(in.Description))
}

// fenced returns a command as a Markdown code block.
func fenced(command string) string {
	fence := "```"
	for strings.Contains(command, fence) {
		fence += "`"
	}
	return fence + "sh\n" + command + "\n" + fence
}
