package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TestBudget has models of which each answer costs 0.3 USD, 30 tokens and a minute.
func TestBudget(t *testing.T) {
	const nobody = " and nobody is there to raise it."
	for name, tt := range map[string]struct {
		budget  Budget
		answers []string // of the user, one per question; nil: there is no user
		last    string   // message
		want    []string // warnings and questions
	}{
		"far from it": {Budget{Turn: Limit{MaxCost: 10, MaxTokens: 1000, MaxMinutes: 60}}, nil, "done", nil},
		"the cost of a turn": {Budget{Turn: Limit{MaxCost: 0.7}}, nil,
			"Stopped: the budget of this turn is used up, 0.9 of 0.7 USD (agent.budget.turn.max_cost)" + nobody,
			[]string{"The budget of this turn is nearly used up: 0.6 of 0.7 USD (agent.budget.turn.max_cost)."}},
		"the tokens of a session": {Budget{Session: Limit{MaxTokens: 1060}}, nil,
			"Stopped: the budget of this session is used up, 1060 of 1060 tokens (agent.budget.session.max_tokens)" + nobody,
			[]string{"The budget of this session is nearly used up: 1000 of 1060 tokens (agent.budget.session.max_tokens)."}},
		"the minutes of a day": {Budget{Day: Limit{MaxMinutes: 12.5}}, nil,
			"Stopped: the budget of today is used up, 13 of 12.5 minutes (agent.budget.day.max_minutes)" + nobody,
			[]string{"The budget of today is nearly used up: 10 of 12.5 minutes (agent.budget.day.max_minutes)."}},
		"used up before": {Budget{Day: Limit{MaxMinutes: 5}}, nil,
			"Stopped: the budget of today is used up, 10 of 5 minutes (agent.budget.day.max_minutes)" + nobody, nil},
		"a tiny one": {Budget{Day: Limit{MaxMinutes: 0.00012 / 10}}, nil,
			"Stopped: the budget of today is used up, 10 of 0.00001 minutes (agent.budget.day.max_minutes)" + nobody, nil},
		"go on": {Budget{Turn: Limit{MaxTokens: 60}}, []string{goOn, goOn}, "done", []string{
			"ask Raise the budget of this turn to 120 tokens and go on?",
			"ask Raise the budget of this turn to 180 tokens and go on?",
		}},
		"go on, far above": {Budget{Session: Limit{MaxTokens: 300}}, []string{goOn}, "done", []string{
			"ask Raise the budget of this session to 1200 tokens and go on?",
			"The budget of this session is nearly used up: 1030 of 1200 tokens (agent.budget.session.max_tokens).",
		}},
		"stop": {Budget{Turn: Limit{MaxTokens: 60}}, []string{stopHere},
			"Stopped: the budget of this turn is used up, 60 of 60 tokens (agent.budget.turn.max_tokens), as you asked.", []string{
				"ask Raise the budget of this turn to 120 tokens and go on?",
			}},
		"dismissed": {Budget{Turn: Limit{MaxTokens: 60}}, []string{""},
			"Stopped: the budget of this turn is used up, 60 of 60 tokens (agent.budget.turn.max_tokens) and nobody raised it.", []string{
				"ask Raise the budget of this turn to 120 tokens and go on?",
			}},
		"two limits at once": {Budget{Turn: Limit{MaxTokens: 60, MaxMinutes: 2}}, []string{goOn, stopHere},
			"Stopped: the budget of this turn is used up, 2 of 2 minutes (agent.budget.turn.max_minutes), as you asked.", []string{
				"ask Raise the budget of this turn to 120 tokens and go on?",
				"ask Raise the budget of this turn to 4 minutes and go on?",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a := newAgent(t, manyRounds(4), c)
			var got []string
			send := a.Send
			a.Notices, a.Send = true, func(ctx context.Context, u acp.SessionUpdate) error {
				if n, ok := u.(acp.Notice); ok {
					got = append(got, n.Title)
					return nil
				}
				return send(ctx, u)
			}
			requests := -1
			a.Watch = NewWatch(tt.budget, func(context.Context, bool) Spending {
				requests++
				one := Amount{Costs: map[string]float64{"USD": 0.3 * float64(requests)}, Tokens: 30 * int64(requests), Time: time.Duration(requests) * time.Minute}
				all := one.Clone()
				all.Add(Amount{Tokens: 1000, Time: 10 * time.Minute}) // by earlier turns
				return Spending{Turn: one, Session: all, Day: all}
			})
			if tt.answers != nil {
				a.Ask = func(_ context.Context, u acp.ToolCall, _ []acp.PermissionOption) (string, error) {
					got = append(got, "ask "+u.Title)
					answer := tt.answers[0]
					tt.answers = tt.answers[1:]
					return answer, nil
				}
			}
			_, reason, err := c.turn(t.Context(), t, a, nil, text("hi"))
			if done := tt.last == "done"; err != nil || done != (reason == acp.StopEndTurn) || !done && reason != acp.StopMaxTurnRequests {
				t.Errorf("%q, %v", reason, err)
			}
			if last := c.lines[len(c.lines)-1]; !strings.Contains(last, tt.last) {
				t.Errorf("got %s, want %s", last, tt.last)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A compaction asks a model too.
func TestBudgetOfCompaction(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"a summary"}`, c)
	spent := int64(100)
	a.Watch = NewWatch(Budget{Session: Limit{MaxTokens: 100}}, func(context.Context, bool) Spending { return Spending{Session: Amount{Tokens: spent}} })
	history := []llm.Message{
		{Role: llm.User, Blocks: []llm.Block{{Text: "hi"}}}, {Role: llm.Assistant, Blocks: []llm.Block{{Text: "hello"}}},
		{Role: llm.User, Blocks: []llm.Block{{Text: "again"}}}, {Role: llm.Assistant, Blocks: []llm.Block{{Text: "hello again"}}},
	}
	_, err := a.Compact(t.Context(), history, "")
	const want = "the budget of this session is used up, 100 of 100 tokens (agent.budget.session.max_tokens) and nobody is there to raise it"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	spent = 10
	if _, err := a.Compact(t.Context(), history, ""); err != nil {
		t.Error(err)
	}
}
