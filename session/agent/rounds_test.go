package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// manyRounds returns a script of rounds that differ.
func manyRounds(n int) string {
	var script strings.Builder
	for i := range n {
		fmt.Fprintf(&script, "{\"tool\":\"say\",\"input\":{\"text\":\"answer number %c%c\"}}\n\n", 'a'+i/26, 'a'+i%26)
	}
	return script.String() + `{"text":"done"}`
}

func TestRounds(t *testing.T) {
	for name, tt := range map[string]struct {
		soft, hard int
		answers    []string // of the user, one per question; "!" means that no one answers
		unasked    bool
		own        RoundLimit
		rounds     int // that the model wants
		want       int // that it gets
		last       string
		ends       []string // the outcomes of the questions
	}{
		"go on, and again, then stop": {2, 200, []string{goOn, goOn, stopHere}, false, RoundLimit{}, 9, 6,
			"Stopped after 6 rounds of tool calls, as you asked. Send another prompt to continue.",
			[]string{`completed content="Going on."`, `completed content="Going on."`, `completed content="Stopped."`}},
		"go on to the end": {2, 200, []string{goOn}, false, RoundLimit{}, 3, 3, "done", []string{`completed content="Going on."`}},
		"without asking again": {2, 200, []string{goOnUnasked}, false, RoundLimit{}, 9, 9, "done",
			[]string{`completed content="Going on, without asking again in this session."`}},
		"without asking, to the cap": {2, 5, []string{goOnUnasked}, false, RoundLimit{}, 9, 5,
			"Stopped after 5 rounds of tool calls (agent.max_tool_iterations_hard). Send another prompt to continue.",
			[]string{`completed content="Going on, without asking again in this session."`}},
		"nobody answers": {2, 200, []string{"!"}, false, RoundLimit{}, 9, 2,
			"Stopped after 2 rounds of tool calls (agent.max_tool_iterations). Send another prompt to continue.",
			[]string{`failed content="No one answered."`}},
		"an option that was not offered": {2, 200, []string{"yes"}, false, RoundLimit{}, 9, 2,
			"Stopped after 2 rounds of tool calls, as you asked. Send another prompt to continue.", []string{`completed content="Stopped."`}},
		"nobody can be asked": {2, 200, nil, false, RoundLimit{}, 9, 2,
			"Stopped after 2 rounds of tool calls (agent.max_tool_iterations). Send another prompt to continue.", nil},
		"unasked": {2, 5, nil, true, RoundLimit{}, 9, 5,
			"Stopped after 5 rounds of tool calls (agent.max_tool_iterations_hard). Send another prompt to continue.", nil},
		"unasked, one round at a time": {1, 200, nil, true, RoundLimit{}, 40, 40, "done", nil},
		"the cap holds for who says go on each time": {2, 5, []string{goOn, goOn}, false, RoundLimit{}, 9, 5,
			"Stopped after 5 rounds of tool calls (agent.max_tool_iterations_hard). Send another prompt to continue.",
			[]string{`completed content="Going on."`, `completed content="Going on."`}},
		"both the same": {3, 3, []string{}, false, RoundLimit{}, 9, 3,
			"Stopped after 3 rounds of tool calls (agent.max_tool_iterations). Send another prompt to continue.", nil},
		"more than the default of the cap": {201, 200, []string{goOn}, false, RoundLimit{}, 500, 402,
			"Stopped after 402 rounds of tool calls (agent.max_tool_iterations_hard). Send another prompt to continue.",
			[]string{`completed content="Going on."`}},
		"a limit of its own, unasked": {2, 200, []string{}, false, RoundLimit{Rounds: 120, Name: "--max-rounds", Next: "Go on."}, 130, 120,
			"Stopped after 120 rounds of tool calls (--max-rounds). Go on.", nil},
		"a lower cap than its own limit": {2, 5, []string{}, false, RoundLimit{Rounds: 100, Name: "--max-rounds"}, 9, 5,
			"Stopped after 5 rounds of tool calls (agent.max_tool_iterations_hard). Send another prompt to continue.", nil},
		"fewer than its own limit": {2, 200, nil, false, RoundLimit{Rounds: 100}, 9, 9, "done", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a := newAgent(t, manyRounds(tt.rounds), c)
			a.Config.MaxToolIterations, a.Config.MaxToolIterationsHard = tt.soft, tt.hard
			a.ContinueUnasked, a.RoundLimit = func() bool { return tt.unasked }, tt.own
			var questions []string
			if tt.answers != nil {
				a.Ask = func(_ context.Context, u acp.ToolCall, options []acp.PermissionOption) (string, error) {
					questions = append(questions, u.ToolCallID)
					asked := len(questions) * tt.soft
					more := quantity.Count(min(tt.soft, Config{MaxToolIterations: tt.soft, MaxToolIterationsHard: tt.hard}.hardCap()-asked), "more round")
					title, why := "Go on for "+more+"?", fmt.Sprintf("Why: the turn has had %d rounds of tool calls (agent.max_tool_iterations).", asked)
					if got := *u.Content[0].Content.Text; u.Title != title || got != why || len(options) != 3 ||
						(options[0].OptionID == goOnUnasked) != (len(questions) > 1) {
						t.Errorf("question %d: asked %q, %q with %v, want %q, %q", len(questions), u.Title, got, options, title, why)
					}
					if answer := tt.answers[len(questions)-1]; answer != "!" {
						return answer, nil
					}
					return "", errors.New("no one is here")
				}
			}
			history, reason, err := c.turn(t.Context(), t, a, nil, text("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if done := tt.last == "done"; done != (reason == acp.StopEndTurn) || !done && reason != acp.StopMaxTurnRequests {
				t.Errorf("stop reason %q", reason)
			}
			rounds := 0
			for _, m := range history {
				if len(m.Blocks) > 0 && m.Blocks[0].Result != nil {
					rounds++
				}
			}
			if rounds != tt.want || !strings.HasSuffix(c.lines[len(c.lines)-1], fmt.Sprintf("%q", tt.last)) {
				t.Errorf("%d rounds, %s; want %d", rounds, c.lines[len(c.lines)-1], tt.want)
			}
			var ends []string
			for _, l := range c.lines {
				f := strings.SplitN(l, " ", 3)
				if f[0] == acp.UpdateToolCallPatch && slices.Contains(questions, f[1]) {
					ends = append(ends, f[2])
				}
			}
			if diff := cmp.Diff(tt.ends, ends); diff != "" {
				t.Errorf("ends of the questions (-want +got)\n%s", diff)
			}
		})
	}
}

// A cancel while the question is open ends the turn and the question.
func TestCancelWhileAsked(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &client{}
	a := newAgent(t, manyRounds(9), c)
	a.Config.MaxToolIterations = 1
	a.Ask = func(ctx context.Context, _ acp.ToolCall, _ []acp.PermissionOption) (string, error) {
		cancel(acp.ErrTurnCancelled)
		return "", context.Cause(ctx)
	}
	_, _, err := c.turn(ctx, t, a, nil, text("hi"))
	if last := c.lines[len(c.lines)-1]; !errors.Is(err, acp.ErrTurnCancelled) || !strings.HasSuffix(last, `cancelled content="[cancelled]"`) {
		t.Errorf("%v, %s", err, last)
	}
}
