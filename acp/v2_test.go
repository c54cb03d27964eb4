package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// hello2 opens a connection of version 2.
const hello2 = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":2,"info":{"name":"x","version":"1"}}}`

// serve2 returns a connection of version 2 with session s1. Each frame of the agent is validated.
func serve2(t *testing.T, f *fakeSessions) *wire {
	s := newServer(t, f)
	s.Config.Protocol = ProtocolAuto
	w := checked(t, s)
	w.send(hello2)
	w.read()
	w.send(`{"jsonrpc":"2.0","id":"new","method":"session/new","params":{"cwd":"/w"}}`)
	w.read()
	return w
}

// brief returns the part of a frame that a test is about: the id of a response, the kind of an update, the
// state of a state_update, or the method.
func brief(t *testing.T, line string) string {
	t.Helper()
	var f struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
		Error  struct{ Message string }
		Params struct {
			SessionID string
			Update    struct{ SessionUpdate, State, StopReason, MessageID, ToolCallID, Status string }
		}
	}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	u := f.Params.Update
	var parts []string
	for _, p := range []string{u.SessionUpdate, u.State, u.StopReason, u.MessageID, u.ToolCallID, u.Status} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	switch {
	case f.Method == "session/update":
		return strings.Join(parts, " ")
	case f.Method != "":
		return f.Method
	case f.Error.Message != "":
		return "error " + string(f.ID)
	}
	return "response " + string(f.ID)
}

func (w *wire) expect(t *testing.T, want ...string) {
	t.Helper()
	for _, frame := range want {
		if got := brief(t, w.read()); got != frame {
			t.Fatalf("got %q, want %q of %q", got, frame, want)
		}
	}
}

const prompt2Frame = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}`

// The response does not wait for the end of the work.
// Statements 259.
func TestResponseAtInsertion(t *testing.T) {
	release := make(chan struct{})
	w := serve2(t, &fakeSessions{turn: func(context.Context, *Client, []ContentBlock) (StopReason, error) {
		<-release
		return StopEndTurn, nil
	}})
	w.send(prompt2Frame)
	w.expect(t, "user_message m1", "response 1", "state_update running")
	close(release)
	w.expect(t, "state_update idle end_turn")
}

// A panic is the end of the work like any other.
// Statements 290.
func TestPanicEndsTheWork(t *testing.T) {
	w := serve2(t, &fakeSessions{turn: func(context.Context, *Client, []ContentBlock) (StopReason, error) { panic("boom") }})
	w.send(prompt2Frame)
	w.expect(t, "user_message m1", "response 1", "state_update running", "state_update idle error")
	w.send(`{"jsonrpc":"2.0","id":"alive","method":"session/list"}`)
	w.expect(t, `response "alive"`)
}

// A limit of time that the agent has set itself is a failure, not a cancel.
// Statements 291.
func TestTimeoutIsAFailure(t *testing.T) {
	w := serve2(t, &fakeSessions{turn: func(ctx context.Context, _ *Client, _ []ContentBlock) (StopReason, error) {
		ctx, cancel := context.WithTimeout(ctx, 0)
		defer cancel()
		<-ctx.Done()
		return "", fmt.Errorf("the model: %w", context.Cause(ctx))
	}})
	w.send(prompt2Frame)
	w.expect(t, "user_message m1", "response 1", "state_update running", "state_update idle error")
}

// While two questions are open, the state changes only with the first and the last one; while another call
// runs, the user's answer is not all that the work waits for.
// Statements 289.
func TestStateWithSeveralQuestions(t *testing.T) {
	asked := make(chan chan struct{})
	w := serve2(t, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
		call := func(id string, status ToolStatus) {
			kind := UpdateToolCallPatch
			if status == ToolPending {
				kind = UpdateToolCall
			}
			if err := c.Update(ctx, "s1", ToolCall{Update: kind, ToolCallID: id, Title: id, Status: status}); err != nil {
				t.Error(err)
			}
		}
		ask := func(id string) {
			done := make(chan struct{})
			go func() {
				_, err := c.RequestPermission(ctx, RequestPermissionRequest{
					SessionID: "s1", ToolCall: ToolCall{ToolCallID: id, Title: id},
					Options: []PermissionOption{{OptionID: "a", Name: "Allow", Kind: "allow_once"}},
				})
				if err != nil {
					t.Error(err)
				}
				close(done)
			}()
			asked <- done
		}
		for _, id := range []string{"a", "b", "c"} {
			call(id, ToolPending)
		}
		ask("a")
		call("c", ToolCompleted)
		ask("b")
		<-asked
		return StopEndTurn, nil
	}})
	w.send(prompt2Frame)
	w.expect(t, "user_message m1", "response 1", "state_update running",
		"tool_call_update a pending", "tool_call_update b pending", "tool_call_update c pending", "session/request_permission")
	a := <-asked
	w.expect(t, "tool_call_update c completed", "state_update requires_action", "session/request_permission")
	b := <-asked
	w.send(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`)
	w.expect(t, "state_update running")
	<-a
	w.send(`{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`)
	<-b
	asked <- nil
	w.expect(t, "state_update idle end_turn")
}

// A message that does not fit into one frame is replayed in parts. The first part replaces what the client
// has of it.
// Statements 386.
func TestReplayInParts(t *testing.T) {
	chunk := func(id, text string) SessionUpdate {
		return MessageChunk{Update: UpdateAgentMessage, MessageID: id, Content: TextBlock(text)}
	}
	long := strings.Repeat("x", maxWhole)
	w := serve2(t, &fakeSessions{history: []SessionUpdate{chunk("m1", long), chunk("m1", long), chunk("m2", "a"), chunk("m2", "b")}})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s1","cwd":"/w","replayFrom":{"type":"start"}}}`)
	w.expect(t, "agent_message m1", "agent_message_chunk m1", "agent_message m2", "replay_complete", "state_update idle", "response 1")
}

// A connection keeps nothing about a session that was closed or deleted, and about its child sessions. No
// update of it is sent, however late it comes.
// Statements 403.
func TestNothingIsKeptOfAClosedSession(t *testing.T) {
	for _, method := range []string{"session/close", "session/delete"} {
		t.Run(method, func(t *testing.T) {
			f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				if err := c.Update(ctx, "s1", SubagentUpdate{Update: UpdateSubagent, SessionID: "s1/a"}); err != nil {
					return "", err
				}
				return StopEndTurn, c.Update(ctx, "s1/a", MessageChunk{Update: UpdateAgentMessage, MessageID: "m", Content: TextBlock("x")})
			}}
			w := serve2(t, f)
			w.send(prompt2Frame)
			w.expect(t, "user_message m1", "response 1", "state_update running", "subagent_update", "agent_message_chunk m", "state_update idle end_turn")
			client := f.open["s1"].client
			w.send(`{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":{"sessionId":"s1"}}`)
			w.expect(t, "response 2")
			late := MessageChunk{Update: UpdateAgentMessage, MessageID: "m2", Content: TextBlock("late")}
			for _, id := range []string{"s1", "s1/a"} {
				if err := client.Update(t.Context(), id, late); err != nil {
					t.Error(err)
				}
			}
			w.send(`{"jsonrpc":"2.0","id":3,"method":"session/list"}`)
			w.expect(t, "response 3")
			d := client.dialect.(*version2)
			d.mu.Lock()
			defer d.mu.Unlock()
			if len(d.sessions) > 0 || len(d.retries) > 0 {
				t.Errorf("after %s the connection keeps %v and %v", method, d.sessions, d.retries)
			}
		})
	}
}
