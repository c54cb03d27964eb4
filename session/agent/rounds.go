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

// RoundLimit ends a turn after a number of rounds of tool calls, without a question.
type RoundLimit struct {
	Rounds int    // 0 means that the configuration decides
	Name   string // of the flag or the key, for people
	Next   string // a sentence about how to continue; empty means by another prompt
}

// roundQuestions is what a session remembers of the questions whether a turn continues.
type roundQuestions struct {
	asked bool // at least once
	over  bool // the user wants no more of them
}

// The two keys of the configuration, as a message names them.
const (
	atSoftLimit = " (agent.max_tool_iterations)"
	atHardLimit = " (agent.max_tool_iterations_hard)"
)

// roundLimitReason returns why the turn ends after this many rounds of tool calls, or
// "" if it continues. Every max_tool_iterations rounds it asks the user, unless the turn has a
// limit of its own, there is no user, or the user has allowed further rounds in advance.
func (t *turn) roundLimitReason(ctx context.Context, rounds int) (why string, err error) {
	limit, hard := t.Config.MaxToolIterations, t.Config.hardCap()
	switch own := t.RoundLimit; {
	case t.origin != executors.Model:
		return "", nil
	case t.supervisor != nil && rounds < hard:
		return "", nil
	case t.supervisor != nil:
		return atHardLimit, nil
	case own.Rounds > 0 && rounds >= own.Rounds:
		return " (" + own.Name + ")", nil
	case own.Rounds > 0 && rounds >= hard:
		return atHardLimit, nil
	case own.Rounds > 0, rounds < max(limit, t.allowedRounds):
		return "", nil
	case rounds >= hard && rounds > limit:
		return atHardLimit, nil
	case rounds >= hard:
		return atSoftLimit, nil
	}
	if !t.rounds.over && (t.ContinueUnasked == nil || !t.ContinueUnasked()) {
		if why, err := t.askToContinue(ctx, rounds); err != nil || why != "" {
			return why, err
		}
	}
	t.allowedRounds = min(rounds+limit, hard)
	return "", nil
}

// askToContinue asks the user whether the turn continues, by a permission request for a
// tool call of its own, which all clients can show.
func (t *turn) askToContinue(ctx context.Context, rounds int) (why string, err error) {
	if t.Ask == nil {
		return atSoftLimit, nil
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
	answer, err := t.Ask(ctx, question, t.rounds.options())
	status, text := acp.ToolCompleted, ""
	switch {
	case ctx.Err() != nil:
		status, text, err = acp.ToolCancelled, "[cancelled]", context.Cause(ctx)
	case err != nil:
		t.Log.Debug("no answer whether to continue", "session", t.Session, "err", err)
		status, text, why, err = acp.ToolFailed, "No one answered.", atSoftLimit, nil
	case answer == "":
		text, why = "The question was dismissed.", atSoftLimit
	case answer == goOn:
		text = "Continuing."
	case answer == goOnUnasked:
		text = "Continuing, without asking again in this session."
		t.rounds.over = true
	default:
		text, why = "Stopped.", ", as you asked"
	}
	return why, t.endQuestion(ctx, question.ToolCallID, status, text, err)
}

// options returns the answers to the next question. A user who is asked again is first offered
// not to be asked any more.
func (q *roundQuestions) options() []acp.PermissionOption {
	once := acp.PermissionOption{OptionID: goOn, Kind: goOn, Name: "Continue"}
	always := acp.PermissionOption{OptionID: goOnUnasked, Kind: goOnUnasked, Name: "Continue without asking in this session"}
	stop := acp.PermissionOption{OptionID: stopHere, Kind: stopHere, Name: "Stop"}
	if q.asked {
		return []acp.PermissionOption{always, once, stop}
	}
	q.asked = true
	return []acp.PermissionOption{once, always, stop}
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
