// Package question offers the tool ask_user, with which a model asks the user.
//
// Start with [New]. The question is a form if the client shows forms; the call then
// returns the answer. Elsewhere the question ends the turn, and the next prompt is the
// answer. The turn asks; see [executors.Call].
//
// It promises that a turn asks at most [Config.MaxPerTurn] questions. A question has no
// invisible characters, and its form says that the agent asks.
//
// Why is the number of questions limited? A model that asks before each step is less
// useful than one that investigates. The limit also ends a loop of questions.
package question

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	shown "github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// Name is the name of the tool.
const Name = "ask_user"

//go:embed ask_user.md
var text string

// input is a question as the schema describes it.
type input struct {
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty" jsonschema:"maxItems=8"`
}

const (
	maxQuestion = 2000 // characters
	maxOption   = 200  // characters
	maxOptions  = 8
)

// New returns the tool; none if the configuration switches it off.
func New(cfg Config) executors.Registry {
	if !cfg.Enabled {
		return nil
	}
	a := asker{cfg}
	return executors.Registry{
		executors.Bind(executors.Tool{
			Name: Name, Description: strings.TrimSpace(text), Effect: executors.Internal, Kind: executors.KindOther,
			Names: executors.Names{Claude: "AskUserQuestion"},
		}, a.prepare, a.ask),
	}
}

type asker struct{ cfg Config }

func (a asker) prepare(_ context.Context, _ *executors.Call, in *input) (executors.Card, error) {
	q, err := in.question()
	return executors.Card{Title: executors.Titled(line.Join(q.Text)), Kind: executors.KindOther}, err
}

// ask asks the user and returns the reaction for the model.
func (a asker) ask(ctx context.Context, call *executors.Call, in *input) (executors.Result, error) {
	q, err := in.question()
	if err != nil {
		return executors.FailWith(err), nil
	}
	if call.Question == nil {
		return executors.Failuref(executors.PermanentFailure, "ask_user: only a model asks the user").Result(), nil
	}
	q.Limit = a.cfg.MaxPerTurn
	call.Notify(executors.Event{Status: executors.InProgress})
	reply, err := call.Question(ctx, q)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return executors.FailWith(err), nil
	}
	return executors.Result{Text: replyText(reply), Raw: map[string]string{"reaction": string(reply.Reaction)}}, nil
}

// replyText returns a reply as the model reads it.
func replyText(r executors.Reply) string {
	const instead = " Continue with what is safe and can be undone, or end the turn and say what is missing."
	switch r.Reaction {
	case executors.Answered:
		return "The user answers: " + r.Answer
	case executors.Declined:
		return "The user declined to answer." + instead
	case executors.Later:
		return "The question ends this turn. The user's next prompt answers it."
	}
	return "The user gave no answer." + instead
}

// question returns the input in the form that the user sees.
func (in input) question() (executors.Question, error) {
	q := executors.Question{Text: line.TruncateRunes(strings.TrimSpace(visible(in.Question)), maxQuestion)}
	if q.Text == "" {
		return q, executors.Failuref(executors.InvalidParameters, "ask_user: the question is empty")
	}
	for _, o := range in.Options {
		o = line.TruncateRunes(line.Join(visible(o)), maxOption)
		if o != "" && !slices.Contains(q.Options, o) && len(q.Options) < maxOptions {
			q.Options = append(q.Options, o)
		}
	}
	return q, nil
}

// visible removes control characters and others that a client may not show.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r):
			return ' '
		case shown.Hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
