package executors_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// hop is an executor that admits a second card while it runs.
type hop struct {
	second *executors.Card
	ran    *bool
	asked  *[]string
}

func (hop) Tools() []executors.Tool { return nil }

func (hop) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (h hop) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	*h.ran, *h.asked = true, call.Ask
	if h.second == nil {
		return executors.Result{Text: "done"}, nil
	}
	if err := call.Admit(ctx, *h.second); err != nil {
		return executors.FailWith(err), nil
	}
	return executors.Result{Text: "followed"}, nil
}

func TestGate(t *testing.T) {
	byURL := func(_ context.Context, call *executors.Call) (executors.Verdict, error) {
		switch call.Card.URL {
		case "deny":
			return executors.Verdict{Decision: executors.Deny, Rule: "secret rule", Reason: "it is forbidden"}, nil
		case "ask":
			return executors.Verdict{Decision: executors.Ask, Reason: "it is odd"}, nil
		case "allow":
			return executors.Verdict{Decision: executors.Allow, Rule: "rule 1"}, nil
		case "error":
			return executors.Verdict{}, errors.New("broken store")
		}
		return executors.Verdict{}, nil
	}
	tests := []struct {
		name, url, second string
		ran               bool
		text              string // of the result, or of the failure
		said              string
		asked             []string
		decisions         []executors.Decision
		err               bool
	}{
		{name: "nothing to say", ran: true, text: "done"},
		{name: "allowed", url: "allow", ran: true, text: "done", decisions: []executors.Decision{"allow"}},
		{name: "asked", url: "ask", ran: true, text: "done", asked: []string{"the gate: it is odd"}, decisions: []executors.Decision{"ask"}},
		{name: "denied without the rule", url: "deny", text: "tool call denied by policy", said: "Denied by the gate: it is forbidden.",
			decisions: []executors.Decision{"deny"}},
		{name: "an error ends the turn", url: "error", err: true},
		{name: "a further card is denied", url: "allow", second: "deny", ran: true, text: "tool call denied by policy",
			said: "Denied by the gate: it is forbidden.", decisions: []executors.Decision{"allow", "deny"}},
		{name: "a further card cannot ask", second: "ask", ran: true, text: "it needs a separate call: the gate: it is odd", decisions: []executors.Decision{"ask"}},
		{name: "a further card is allowed", second: "allow", ran: true, text: "followed", decisions: []executors.Decision{"allow"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ran bool
			var asked []string
			inner := hop{ran: &ran, asked: &asked}
			if tt.second != "" {
				inner.second = &executors.Card{URL: tt.second}
			}
			call := &executors.Call{Card: executors.Card{URL: tt.url}, Record: &executors.Record{}}
			res, err := executors.Chain(inner, executors.Gate("the_gate", byURL)).Execute(t.Context(), call)
			if (err != nil) != tt.err {
				t.Fatalf("error %v", err)
			}
			text, said := res.Text, ""
			if res.Failure != nil {
				text, said = res.Failure.Message, res.Failure.UserText
			}
			var decisions []executors.Decision
			for _, v := range call.Record.Verdicts {
				decisions = append(decisions, v.Decision)
			}
			if ran != tt.ran || text != tt.text || said != tt.said || !cmp.Equal(asked, tt.asked) || !cmp.Equal(decisions, tt.decisions) {
				t.Errorf("ran %v, text %q, said %q, asked %q, decisions %v", ran, text, said, asked, decisions)
			}
			if last := len(decisions) - 1; last >= 0 && decisions[last] == executors.Deny && !strings.HasSuffix(call.Record.Rule(), "the_gate: secret rule") {
				t.Errorf("recorded the rule %q, want it to end with \"the_gate: secret rule\"", call.Record.Rule())
			}
		})
	}
}
