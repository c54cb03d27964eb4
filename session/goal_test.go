package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// following is an agent whose turns and checks a test answers.
type following struct {
	steered
	record func(...transcript.Event)
	turn   func(in agent.Input) (acp.StopReason, error)
	check  func() string
	said   []string
}

func (a *following) Turn(_ context.Context, history []llm.Message, in agent.Input) ([]llm.Message, acp.StopReason, error) {
	a.record(transcript.Prompt{MessageID: "m", Content: in.Content, ModelText: in.ModelText})
	reason, err := a.turn(in)
	return history, reason, err
}

func (a *following) Check(_ context.Context, _ []llm.Message, c agent.Check) (string, acp.StopReason, error) {
	answer := a.check()
	if c.Question("the work") == "" || !c.Accept(answer) {
		c.Supervisor.Ended("Stopped: no money is left.")
		return "", acp.StopMaxTurnRequests, nil
	}
	return answer, "", nil
}

func (a *following) Say(_ context.Context, text string) error {
	a.said = append(a.said, strings.TrimSpace(text))
	return nil
}

// follow runs a goal with an agent, and returns the reason and the error of the turn. now is the time;
// nil means the time of the machine.
func follow(t *testing.T, a *following, now func() time.Time) (s *Session, reason acp.StopReason, err error) {
	t.Helper()
	all := newSessions(a)
	all.Goal = goal.Bounds{MaxRounds: 100, MaxMinutes: 120}
	if now != nil {
		all.Now = now
	}
	all.Model = func(string) (llm.Model, error) { return local.ParseScript("test", strings.NewReader("")) }
	all.NewAgent = func(h Host) (AgentSession, error) {
		a.record = h.Record
		return AgentSession{Agent: a, Mode: "code"}, nil
	}
	s = open(t, all).(*Session)
	got := <-start(t.Context(), s, "/goal tidy up")
	return s, got.reason, got.err
}

// The time of the work is bounded, and the time that a question waits does not count.
func TestGoalTime(t *testing.T) {
	now := time.Unix(0, 0)
	var asked []acp.StopReason
	a := &following{}
	a.turn = func(in agent.Input) (acp.StopReason, error) {
		for _, step := range []struct {
			waits bool
			takes time.Duration
		}{{false, 119 * time.Minute}, {true, 5 * time.Hour}, {false, time.Minute}} {
			if step.waits {
				in.Supervisor.Waits(true)
			}
			now = now.Add(step.takes)
			if step.waits {
				in.Supervisor.Waits(false)
			}
			asked = append(asked, in.Supervisor.Next())
		}
		return asked[len(asked)-1], nil
	}
	s, reason, err := follow(t, a, func() time.Time { return now })
	if reason != acp.StopMaxTurnRequests || err != nil || asked[0] != "" || asked[1] != "" || asked[2] != acp.StopMaxTurnRequests {
		t.Errorf("%s, %v; before each request: %q", reason, err, asked)
	}
	want := "Goal paused: it has used its 120 minutes (agent.goal.max_minutes) (1 turn, 2 of 100 rounds, 120 of 120 minutes). `/goal resume` goes on."
	if len(a.said) != 1 || a.said[0] != want {
		t.Errorf("said %q, want %q", a.said, want)
	}
	if g := s.storedGoal(); g.Status != goal.Limit || g.Used.Rounds != 2 {
		t.Errorf("the goal is %+v", g)
	}
}

// A turn that does not end by itself ends the work on the goal, with its reason.
func TestGoalEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		turn   func(in agent.Input) (acp.StopReason, error)
		status goal.Status
		reason acp.StopReason
		said   string
	}{
		"a failure": {
			func(agent.Input) (acp.StopReason, error) { return "", errors.New("the server is away") },
			goal.Failed, "", "Goal paused: the server is away (",
		},
		"a refusal": {
			func(agent.Input) (acp.StopReason, error) { return acp.StopRefusal, nil },
			goal.Failed, acp.StopRefusal, "Goal paused: the model refused to go on (",
		},
		"a limit with a message": {
			func(in agent.Input) (acp.StopReason, error) {
				in.Supervisor.Ended("Stopped: the budget of this session is used up.")
				return acp.StopMaxTokens, nil
			}, goal.Limit, acp.StopMaxTokens, "Goal paused: the budget of this session is used up (",
		},
		"a limit after some words": {
			func(agent.Input) (acp.StopReason, error) { return acp.StopMaxTokens, nil },
			goal.Limit, acp.StopMaxTokens, "Goal paused: The answer reached the limit of the model (",
		},
		"a hook": {
			func(in agent.Input) (acp.StopReason, error) {
				in.Supervisor.Ended("Stopped by a hook: enough")
				return acp.StopEndTurn, nil
			}, goal.Blocked, acp.StopEndTurn, "Goal paused, since it needs you: Stopped by a hook: enough (",
		},
		"a budget that permits no check": {
			func(agent.Input) (acp.StopReason, error) { return acp.StopEndTurn, nil },
			goal.Limit, acp.StopMaxTurnRequests, "Goal paused: no money is left (",
		},
		"no answer is checked": {
			func(in agent.Input) (acp.StopReason, error) {
				in.Supervisor.Ended(agent.NoAnswer)
				return acp.StopEndTurn, nil
			}, goal.Met, acp.StopEndTurn, "Goal met (",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &following{turn: tt.turn, check: func() string {
				if tt.status == goal.Met {
					return "MET"
				}
				return ""
			}}
			s, reason, err := follow(t, a, nil)
			if reason != tt.reason || (err != nil) != (tt.reason == "") || len(a.said) != 1 || !strings.HasPrefix(a.said[0], tt.said) {
				t.Errorf("%q, %v, said %q", reason, err, a.said)
			}
			if g := s.storedGoal(); g.Status != tt.status {
				t.Errorf("the goal is %+v, want %s", g, tt.status)
			}
		})
	}
}

// A text that the user adds during the last check reaches the model in another turn, whatever the
// check finds.
func TestGoalSteeredAtItsEnd(t *testing.T) {
	for _, answer := range []string{"MET", "BLOCKED: the password"} {
		t.Run(answer, func(t *testing.T) { steeredAtItsEnd(t, answer) })
	}
}

func steeredAtItsEnd(t *testing.T, answer string) {
	a := &following{}
	var s *Session
	var prompts []string
	var added acp.Steering
	a.turn = func(in agent.Input) (acp.StopReason, error) {
		s = in.Supervisor.(*goalRun).session
		prompts = append(prompts, in.ModelText)
		if added != nil {
			in.Inbox.Close(agent.ErrNotAccepted) // this agent has no model that could read it
		}
		return acp.StopEndTurn, nil
	}
	a.check = func() string {
		if added == nil {
			added, _ = s.Steer([]acp.ContentBlock{acp.TextBlock("the docs too")})
		}
		return answer
	}
	if _, reason, err := follow(t, a, nil); reason != acp.StopEndTurn || err != nil {
		t.Errorf("%s, %v", reason, err)
	}
	if len(prompts) != 2 || !strings.Contains(prompts[1], "the user has added a message") || added == nil {
		t.Errorf("the prompts are %q", prompts)
	}
}

// /goal pause and stop during a check end the work before the next turn.
func TestGoalPausedDuringCheck(t *testing.T) {
	for command, want := range map[string]goal.Status{"/goal pause": goal.Paused, "/goal stop": goal.Stopped} {
		a := &following{}
		var s *Session
		turns := 0
		a.turn = func(in agent.Input) (acp.StopReason, error) {
			s = in.Supervisor.(*goalRun).session
			turns++
			return acp.StopEndTurn, nil
		}
		a.check = func() string {
			if _, ok := s.Steer([]acp.ContentBlock{acp.TextBlock(command)}); !ok {
				t.Errorf("%s was not accepted", command)
			}
			return "NOT MET: the docs"
		}
		_, reason, err := follow(t, a, nil)
		if g := s.storedGoal(); reason != acp.StopEndTurn || err != nil || g.Status != want || turns != 1 {
			t.Errorf("%s: %s, %v, %d turns, %+v", command, reason, err, turns, g)
		}
	}
}
