package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// questions holds the questions of one turn.
type questions struct {
	asked   int
	pending []executors.Question // those that end the turn
}

// question asks the user. Where the client has no form for it, the question ends the turn.
func (r *runningCall) question(ctx context.Context, q executors.Question) (executors.Reply, error) {
	if r.questions.asked >= q.Limit {
		return executors.Reply{}, executors.Failuref(executors.PermanentFailure, "this turn has asked the user %s already", quantity.Count(q.Limit, "question")).
			Hint("Decide yourself, or end the turn and ask in your answer.")
	}
	r.questions.asked++
	if r.Elicit != nil {
		waited := r.call.Record.BeginWait()
		r.waits(true)
		form, err := r.Elicit(ctx, acp.ElicitRequest{
			SessionID: r.Session, ToolCallID: r.call.ID, Message: "The agent asks:\n\n" + q.Text, Schema: formOf(q),
		})
		r.waits(false)
		waited()
		if ctx.Err() != nil {
			return executors.Reply{}, context.Cause(ctx)
		}
		if err == nil {
			return replyOf(form), nil
		}
		r.Log.Info("the client did not show a question", "call", r.call.ID, "err", err)
	}
	r.questions.pending = append(r.questions.pending, q)
	return executors.Reply{Reaction: executors.Later}, nil
}

// field is a text of a form.
type field struct {
	Type  string   `json:"type"`
	Title string   `json:"title"`
	Enum  []string `json:"enum,omitempty"`
}

// formOf returns the schema of a question's form. A user who likes none of the options
// has a field for another answer.
func formOf(q executors.Question) json.RawMessage {
	schema := struct {
		Type       string           `json:"type"`
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required,omitempty"`
	}{Type: "object", Properties: map[string]field{"answer": {Type: "string", Title: "Answer", Enum: q.Options}}}
	if len(q.Options) == 0 {
		schema.Required = []string{"answer"}
	} else {
		schema.Properties["other"] = field{Type: "string", Title: "Another answer"}
	}
	data, _ := json.Marshal(schema) // it has only texts
	return data
}

// replyOf returns the reply in a form that was shown.
func replyOf(form acp.ElicitResult) executors.Reply {
	switch form.Action {
	case acp.ElicitDecline:
		return executors.Reply{Reaction: executors.Declined}
	case acp.ElicitAccept:
		var content struct{ Answer, Other any }
		if json.Unmarshal(form.Content, &content) == nil {
			for _, v := range []any{content.Other, content.Answer} {
				if text, ok := v.(string); ok && strings.TrimSpace(text) != "" {
					return executors.Reply{Reaction: executors.Answered, Answer: strings.TrimSpace(text)}
				}
			}
		}
	}
	return executors.Reply{Reaction: executors.Unanswered}
}

// endsWithQuestions reports whether questions end the turn: the user cannot answer them earlier,
// and has added no text meanwhile.
func (t *turn) endsWithQuestions() bool {
	if len(t.questions.pending) == 0 {
		return false
	}
	if !t.inbox.closeIfEmpty() {
		t.questions.pending = nil // the text is the answer
		return false
	}
	return true
}

// shownQuestions returns the questions that end a turn as the user reads them.
func shownQuestions(open []executors.Question) string {
	var b strings.Builder
	for i, q := range open {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(q.Text)
		for n, o := range q.Options {
			if n == 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "\n%d. %s", n+1, o)
		}
	}
	return b.String()
}
