package transcript

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A replay shows the child sessions of each call before its result: by the recorded ids, and for a
// log of an earlier version by ids made from the call's.
func TestReplayChildren(t *testing.T) {
	call := Call{Shown: acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: "t", Title: "x", RawInput: json.RawMessage(`{"task":"look"}`)}}
	end := Result{
		Result: llm.ToolResult{ID: "c", Text: "It is in a.go."},
		Shown:  acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: "t", Status: acp.ToolCompleted},
	}
	step := func(caller, id string) Step {
		return Step{ToolCallID: "t", ID: "c", Text: "read a.go", Caller: caller, Shown: &acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: id, Title: "a.go"}}
	}
	begin := func(caller, message string) Child {
		return Child{ToolCallID: "t", Caller: caller, MessageID: message, Task: "look"}
	}
	one := []string{"s session_message m1", "s/a session_message m1", "s/a tool_call r1", "s/a tool_call_update r1"}
	for name, tt := range map[string]struct {
		events []Event
		want   []string // between the announcement of the call and its end
	}{
		"recorded": {
			[]Event{
				begin("old/a", "m1"), step("old/a", "r1"),
				ChildEnd{ToolCallID: "t", Caller: "old/a", MessageID: "m2", Report: "It is.", Reason: acp.StopEndTurn}, end,
			},
			append(append([]string{"s subagent_update s/a"}, one...),
				"s/a session_message m2", "s session_message m2", "s subagent_update s/a idle end_turn", "s tool_call_update t [s/a]"),
		},
		"failed": {
			[]Event{begin("s/a", "m1"), ChildEnd{ToolCallID: "t", Caller: "s/a", Error: &acp.SubagentError{Code: 1, Message: "no"}}, end},
			[]string{"s subagent_update s/a", one[0], one[1], "s subagent_update s/a idle error", "s tool_call_update t [s/a]"},
		},
		"two at once": {
			[]Event{begin("s/a", "m1"), begin("s/b", "m3"), step("s/b", "r2"), step("s/a", "r1"), end},
			append(append([]string{"s subagent_update s/a"}, one...), "s subagent_update s/a idle cancelled",
				"s subagent_update s/b", "s session_message m3", "s/b session_message m3", "s/b tool_call r2", "s/b tool_call_update r2",
				"s subagent_update s/b idle cancelled", "s tool_call_update t [s/a s/b]"),
		},
		"interrupted": {
			[]Event{begin("s/a", "m1"), step("s/a", "r1"), TurnEnd{Reason: acp.StopCancelled}},
			append(append([]string{"s subagent_update s/a"}, one...), "s subagent_update s/a idle cancelled", "s tool_call_update t [s/a]"),
		},
		"an earlier version": {
			[]Event{step("s/a", "r1"), end},
			[]string{
				"s subagent_update s/a", "s session_message t-task", "s/a session_message t-task", one[2], one[3],
				"s/a session_message t-report", "s session_message t-report", "s subagent_update s/a idle end_turn", "s tool_call_update t [s/a]",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := ReplayFamily("s", append([]Event{Prompt{MessageID: "p"}, call}, tt.events...), acp.ClientCapabilities{Subagents: true},
				func(session string, u acp.SessionUpdate) error {
					got = append(got, session+" "+summary(u))
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]string{"s tool_call t"}, tt.want...), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, e := range tt.events { // each can be read again
				data, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := Decode(e.Kind(), data); err != nil || !cmp.Equal(again, e) {
					t.Errorf("%s: decoded as %v, %v", data, again, err)
				}
			}
		})
	}
}

// summary describes an update by its kind and its id, with its state and the sessions that it refers to.
func summary(u acp.SessionUpdate) string {
	switch u := u.(type) {
	case acp.SubagentUpdate:
		text := u.Update + " " + u.SessionID
		if u.State != nil {
			text += fmt.Sprintf(" %s %s", u.State.State, u.State.StopReason)
		}
		return text
	case acp.SessionMessage:
		return u.Update + " " + u.MessageID
	case acp.ToolCall:
		text, sessions := u.Update+" "+u.ToolCallID, []string(nil)
		for _, c := range u.Content {
			if c.Type == acp.SessionContent {
				sessions = append(sessions, c.SessionID)
			}
		}
		if sessions != nil {
			text += fmt.Sprint(" ", sessions)
		}
		return text
	}
	return fmt.Sprintf("%T", u)
}
