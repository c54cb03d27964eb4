package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// asks asks the user in each call, and returns the reaction with the answer.
type asks struct {
	tools
	during func() // called after each question
}

func (e asks) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if call.Question == nil {
		return executors.Failf(executors.PermanentFailure, "nobody to ask"), nil
	}
	reply, err := call.Question(ctx, executors.Question{Text: "Which?", Options: []string{"a", "b"}, Limit: 2})
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if e.during != nil {
		e.during()
	}
	if err != nil {
		return executors.FailWith(err), nil
	}
	return executors.Result{Text: string(reply.Reaction) + " " + reply.Answer}, nil
}

// questioning returns an agent whose model makes rounds calls of asks.
func questioning(t *testing.T, rounds int, c *client, during func()) (*Agent, *caller) {
	m := &caller{rounds: rounds}
	a := calling(t, m, c)
	a.Chain = asks{during: during}
	return a, m
}

// A question that no form can show ends the turn. Its history has the result of the
// call, so that the next prompt is the answer.
func TestQuestionEndsTurn(t *testing.T) {
	c := &client{}
	a, m := questioning(t, 3, c, nil)
	history, reason, err := c.turn(t.Context(), t, a, nil, text("go"))
	if err != nil || reason != acp.StopEndTurn || len(m.requests) != 1 {
		t.Fatalf("%v, %q, %d requests", err, reason, len(m.requests))
	}
	last := history[len(history)-1]
	if last.Role != llm.User || last.Blocks[0].Result == nil || !strings.HasPrefix(last.Blocks[0].Result.Text, "later") {
		t.Errorf("the history ends with %+v", last)
	}
	if !slices.ContainsFunc(c.lines, func(l string) bool { return strings.HasSuffix(l, `"Which?\n\n1. a\n2. b"`) }) {
		t.Errorf("the client got %q", c.lines)
	}
}

// TestQuestionPage runs the example of docs/commands.md.
func TestQuestionPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "the call `")
	input, rest, _ := strings.Cut(rest, "`")
	_, rest, _ = strings.Cut(rest, "```text\n")
	want, _, ok := strings.Cut(rest, "```")
	var in struct {
		Question string
		Options  []string
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil || !ok {
		t.Fatalf("%q: %v", input, err)
	}
	if got := shownQuestions([]executors.Question{{Text: in.Question, Options: in.Options}}) + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A text that the user adds before the turn ends answers the question.
func TestQuestionAnsweredMeanwhile(t *testing.T) {
	var inbox Inbox
	var outcome func() error
	c := &client{}
	a, m := questioning(t, 1, c, func() { outcome = add(&inbox, "b, please") })
	_, _, err := c.turn(t.Context(), t, a, nil, steerable(&inbox))
	if err != nil || outcome() != nil || len(m.requests) != 2 || !strings.Contains(m.requests[1], "b, please") {
		t.Errorf("%v, requests %q", err, m.requests)
	}
}

// Reactions to a form, and the limit of questions.
func TestQuestionForm(t *testing.T) {
	for name, tt := range map[string]struct {
		form acp.ElicitResult
		want string
	}{
		"option":    {acp.ElicitResult{Action: acp.ElicitAccept, Content: []byte(`{"answer":"a"}`)}, "answered a"},
		"other":     {acp.ElicitResult{Action: acp.ElicitAccept, Content: []byte(`{"answer":"a","other":" c "}`)}, "answered c"},
		"empty":     {acp.ElicitResult{Action: acp.ElicitAccept, Content: []byte(`{"answer":" "}`)}, "unanswered"},
		"number":    {acp.ElicitResult{Action: acp.ElicitAccept, Content: []byte(`{"answer":7}`)}, "unanswered"},
		"no object": {acp.ElicitResult{Action: acp.ElicitAccept, Content: []byte(`[]`)}, "unanswered"},
		"decline":   {acp.ElicitResult{Action: acp.ElicitDecline}, "declined"},
		"cancel":    {acp.ElicitResult{Action: acp.ElicitCancel}, "unanswered"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a, m := questioning(t, 3, c, nil)
			asked := 0
			a.Elicit = func(_ context.Context, r acp.ElicitRequest) (acp.ElicitResult, error) {
				asked++
				if r.SessionID != a.Session || r.ToolCallID == "" || !strings.HasPrefix(r.Message, "The agent asks:") {
					t.Errorf("%+v", r)
				}
				return tt.form, nil
			}
			history, _, err := c.turn(t.Context(), t, a, nil, text("go"))
			if err != nil || asked != 2 || len(m.requests) != 4 {
				t.Fatalf("%v, %d questions, %d requests", err, asked, len(m.requests))
			}
			var results []string
			for _, m := range history {
				for _, b := range m.Blocks {
					if b.Result != nil {
						results = append(results, b.Result.Text)
					}
				}
			}
			if len(results) != 3 || !strings.HasPrefix(results[0], tt.want) || !strings.Contains(results[2], "asked the user 2 questions already") {
				t.Errorf("got %q", results)
			}
		})
	}
}

// A cancel while a form is open ends the turn.
func TestQuestionCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &client{}
	a, _ := questioning(t, 1, c, nil)
	a.Elicit = func(ctx context.Context, _ acp.ElicitRequest) (acp.ElicitResult, error) {
		cancel(acp.ErrTurnCancelled)
		return acp.ElicitResult{}, context.Cause(ctx)
	}
	if _, _, err := c.turn(ctx, t, a, nil, text("go")); !errors.Is(err, acp.ErrTurnCancelled) {
		t.Error(err)
	}
}
