package agent

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// The answers to questions of the agent itself. Each id is also the option's kind, since some clients
// answer with the kind.
const (
	goOn        = "allow_once"
	goOnUnasked = "allow_always"
	stopHere    = "reject_once"
)

// choice is an answer to a question of the agent itself.
type choice struct {
	id      string // see above
	name    string
	outcome string // the sentence that is shown once it was chosen
}

// askUser asks the user a question of the agent itself, by a permission request for a tool call of its own, which all
// clients can show. The title says what will happen, and why what has led to the question. It returns the id of a choice, or "" if the user dismissed the question or nobody answered.
// The error is the cause of a cancel, or of a client that has gone.
func (t *turn) askUser(ctx context.Context, title, why string, choices []choice) (answer string, err error) {
	t.message.end()
	question := acp.ToolCall{
		Update: acp.UpdateToolCall, ToolCallID: t.NewID(), Status: acp.ToolPending, Kind: string(executors.KindOther), Title: title,
		Content: []acp.ToolContent{acp.BlockContent(acp.TextBlock("Why: " + why))},
	}
	t.Record(transcript.Question{Shown: question})
	if err := t.Send(ctx, question); err != nil {
		return "", err
	}
	question.Update = ""
	options := make([]acp.PermissionOption, len(choices))
	for i, c := range choices {
		options[i] = acp.PermissionOption{OptionID: c.id, Kind: c.id, Name: c.name}
	}
	t.waits(true)
	answer, err = t.Ask(ctx, question, options)
	t.waits(false)
	status, text := acp.ToolCompleted, "The question was dismissed."
	i := slices.IndexFunc(choices, func(c choice) bool { return c.id == answer })
	switch {
	case ctx.Err() != nil:
		status, text, err = acp.ToolCancelled, "[cancelled]", context.Cause(ctx)
	case err != nil:
		t.Log.Debug("no answer to a question", "session", t.Session, "title", title, "err", err)
		status, text, answer, err = acp.ToolFailed, "No one answered.", "", nil
	case i >= 0:
		text = choices[i].outcome
	case answer != "": // an option that was not offered
		answer, text = stopHere, "Stopped."
	}
	return answer, t.endQuestion(ctx, question.ToolCallID, status, text, err)
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

// warn shows the user a warning: as a notice if the client supports notices, else as a message of the agent.
func (a *Agent) warn(ctx context.Context, text string) error {
	if a.Notices {
		return a.Send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "warning", Title: text})
	}
	return a.sayParagraph(ctx, text)
}
