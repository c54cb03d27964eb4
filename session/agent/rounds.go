package agent

import (
	"context"
	"fmt"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// The answers to the question whether a turn continues. Each id is also the
// option's kind, since some clients answer with the kind.
const (
	goOn        = "allow_once"
	goOnUnasked = "allow_always"
	stopHere    = "reject_once"
)

// roundLimitReason returns why the turn ends after this many rounds of tool calls, or
// "" if it continues. Every max_tool_iterations rounds it asks the user, unless
// there is no user or the user has allowed further rounds in advance.
func (t *turn) roundLimitReason(ctx context.Context, rounds int) (why string, err error) {
	limit := t.Config.MaxToolIterations
	switch {
	case t.origin != executors.Model || rounds < max(limit, t.allowedRounds):
		return "", nil
	case rounds >= t.Config.hardCap() && rounds > limit:
		return " (agent.max_tool_iterations_hard)", nil
	case rounds >= t.Config.hardCap():
		return " (agent.max_tool_iterations)", nil
	}
	if t.ContinueUnasked == nil || !t.ContinueUnasked() {
		if why, err := t.askToContinue(ctx, rounds); err != nil || why != "" {
			return why, err
		}
	}
	t.allowedRounds = min(rounds+limit, t.Config.hardCap())
	return "", nil
}

// askToContinue asks the user whether the turn continues, by a permission request for a
// tool call of its own, which all clients can show.
func (t *turn) askToContinue(ctx context.Context, rounds int) (why string, err error) {
	const atLimit = " (agent.max_tool_iterations)"
	if t.Ask == nil {
		return atLimit, nil
	}
	t.message.end()
	question := acp.ToolCall{
		Update: acp.UpdateToolCall, ToolCallID: t.NewID(), Status: acp.ToolPending, Kind: string(executors.KindOther),
		Title: fmt.Sprintf("%s of tools so far. Continue?", quantity.Count(rounds, "round")),
	}
	t.Record(transcript.Question{Shown: question})
	if err := t.Send(ctx, question); err != nil {
		return "", err
	}
	question.Update = ""
	answer, err := t.Ask(ctx, question, []acp.PermissionOption{
		{OptionID: goOn, Kind: goOn, Name: "Continue"},
		{OptionID: goOnUnasked, Kind: goOnUnasked, Name: "Continue without asking in this session"},
		{OptionID: stopHere, Kind: stopHere, Name: "Stop"},
	})
	status, text := acp.ToolCompleted, ""
	switch {
	case ctx.Err() != nil:
		status, text, err = acp.ToolCancelled, "[cancelled]", context.Cause(ctx)
	case err != nil:
		t.Log.Debug("no answer whether to continue", "session", t.Session, "err", err)
		status, text, why, err = acp.ToolFailed, "No one answered.", atLimit, nil
	case answer == "":
		text, why = "The question was dismissed.", atLimit
	case answer == goOn:
		text = "Continuing."
	case answer == goOnUnasked:
		text = "Continuing, without asking again in this session."
		t.StopAsking()
	default:
		text, why = "Stopped.", ", as you asked"
	}
	return why, t.endQuestion(ctx, question.ToolCallID, status, text, err)
}

// endQuestion shows the outcome of a question, even after a cancel, and returns
// err.
func (t *turn) endQuestion(ctx context.Context, id string, status acp.ToolStatus, text string, err error) error {
	shown := acp.ToolCall{
		Update: acp.UpdateToolCallPatch, ToolCallID: id, Status: status, Content: []acp.ToolContent{acp.BlockContent(acp.TextBlock(text))},
	}
	t.Record(transcript.Question{Shown: shown})
	if sendErr := t.Send(ctx, shown); err == nil {
		err = sendErr
	}
	return err
}
