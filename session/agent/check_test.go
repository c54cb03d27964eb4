package agent

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// supervisor permits a number of requests.
type supervisor struct {
	requests int
	ended    []string
}

func (s *supervisor) Next() acp.StopReason {
	if s.requests--; s.requests < 0 {
		return acp.StopMaxTurnRequests
	}
	return ""
}
func (s *supervisor) Ended(message string) { s.ended = append(s.ended, message) }
func (*supervisor) Waits(bool)             {}

// A supervisor decides before each request, in place of the question after max_tool_iterations rounds.
// The hard limit of a turn holds.
func TestSupervisor(t *testing.T) {
	for name, tt := range map[string]struct {
		requests, hard int
		want           int // rounds
		reason         acp.StopReason
		ended          string
	}{
		"enough":     {10, 200, 6, acp.StopEndTurn, ""},
		"too few":    {4, 200, 4, acp.StopMaxTurnRequests, ""},
		"hard limit": {10, 3, 3, acp.StopMaxTurnRequests, "Stopped after 3 rounds of tool calls (agent.max_tool_iterations_hard)."},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, manyRounds(6), &client{})
			a.Config.MaxToolIterations, a.Config.MaxToolIterationsHard = 2, tt.hard
			a.RoundLimit = RoundLimit{Rounds: 1, Name: "--max-rounds"} // of turns without a supervisor
			s := &supervisor{requests: tt.requests}
			in := text("go")
			in.Supervisor = s
			history, reason, err := a.Turn(t.Context(), nil, in)
			rounds := 0
			for _, m := range history {
				for _, b := range m.Blocks {
					if b.Result != nil {
						rounds++
					}
				}
			}
			ended := strings.Join(s.ended, "")
			if reason != tt.reason || err != nil || rounds != tt.want || !strings.HasPrefix(ended, tt.ended) || (tt.ended == "") != (ended == "") {
				t.Errorf("%s, %v after %d rounds, ended with %q", reason, err, rounds, s.ended)
			}
		})
	}
}

// A prompt with which the session continues has no content: hooks of prompts do not see it, and the
// user's words are the ones that the session names.
func TestContinuedPrompt(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text": "done"}`, c)
	history, reason, err := a.Turn(t.Context(), nil, Input{ModelText: "[goal] go on", Words: "tidy up"})
	if reason != acp.StopEndTurn || err != nil || len(history) != 2 || history[0].Blocks[0].Text != "[goal] go on" {
		t.Fatalf("%s, %v, %+v", reason, err, history)
	}
	if p, ok := c.log[0].(transcript.Prompt); !ok || len(p.Content) != 0 {
		t.Errorf("recorded %+v", c.log[0])
	}
	if words := userText(history[0]); words != "" {
		t.Errorf("a compaction would keep %q as words of the user", words)
	}
}

// The check gets the end of the work, and a wrong form is asked for once more.
func TestCheck(t *testing.T) {
	history := []llm.Message{
		{Role: llm.User, Blocks: []llm.Block{{Text: "tidy up" + strings.Repeat(".", maxChecked)}}},
		{Role: llm.Assistant, Blocks: []llm.Block{{Text: "All is tidy."}}},
	}
	for name, tt := range map[string]struct{ script, want string }{
		"right":       {`{"text": "MET"}`, "MET"},
		"wrong once":  {"{\"text\": \"yes\"}\n\n{\"text\": \"MET\"}", "MET"},
		"wrong twice": {"{\"text\": \"yes\"}\n\n{\"text\": \"sure\"}\n\n{\"text\": \"MET\"}", "sure"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, tt.script, &client{})
			work := ""
			got, reason, err := a.Check(t.Context(), history, Check{
				Instructions: "You check.",
				Question:     func(w string) string { work = w; return w },
				Accept:       func(answer string) bool { return answer == "MET" },
			})
			if got != tt.want || reason != "" || err != nil {
				t.Errorf("%q, %q, %v, want %q", got, reason, err, tt.want)
			}
			if !strings.Contains(work, "All is tidy.") || len(work) > maxChecked+10 {
				t.Errorf("the work has %d bytes and ends with %q", len(work), work[max(0, len(work)-100):])
			}
		})
	}
}
