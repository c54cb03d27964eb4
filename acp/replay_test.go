package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// replayFrames are the requests for the history in both versions.
var replayFrames = map[string]string{
	"version 1": `{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}}`,
	"version 2": `{"jsonrpc":"2.0","id":2,"method":"session/resume","params":{"sessionId":"s1","cwd":"/w","replayFrom":{"type":"start"}}}`,
}

// serveVersion returns a connection of a version with session s1.
func serveVersion(t *testing.T, version string, f *fakeSessions) *wire {
	if version == "version 2" {
		return serve2(t, f)
	}
	w := checked(t, newServer(t, f))
	w.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":1}}`)
	w.read()
	w.send(`{"jsonrpc":"2.0","id":"new","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	w.read()
	return w
}

// What a turn shows while the history is sent follows the response, and so does the end of the turn.
// Statements 390.
func TestUpdatesDuringReplay(t *testing.T) {
	want := map[string][]string{
		"version 1": {
			"user_message_chunk m", "agent_message_chunk a1", "tool_call c1 pending", "response 2",
			"agent_message_chunk a1", "tool_call_update c1 completed", "response 1",
		},
		"version 2": {
			"user_message m", "user_message m1", "agent_message a1", "tool_call_update c1 pending",
			"replay_complete", "state_update running", "response 2",
			"agent_message_chunk a1", "tool_call_update c1 completed", "state_update idle end_turn",
		},
	}
	before := map[string][]string{
		"version 1": {"agent_message_chunk a1", "tool_call c1 pending"},
		"version 2": {"user_message m1", "response 1", "state_update running", "agent_message_chunk a1", "tool_call_update c1 pending"},
	}
	for version, frame := range replayFrames {
		t.Run(version, func(t *testing.T) {
			more, sent := make(chan struct{}), make(chan struct{})
			w := serveVersion(t, version, &fakeSessions{
				turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
					send := func(u SessionUpdate) {
						if err := c.Update(ctx, "s1", u); err != nil {
							t.Error(err)
						}
					}
					text := MessageChunk{Update: UpdateAgentMessage, MessageID: "a1", Content: TextBlock("text")}
					send(text)
					send(ToolCall{Update: UpdateToolCall, ToolCallID: "c1", Title: "c1", Status: ToolPending})
					<-more
					send(text)
					send(ToolCall{Update: UpdateToolCallPatch, ToolCallID: "c1", Status: ToolCompleted})
					close(sent)
					return StopEndTurn, nil
				},
				replaying: func() { close(more); <-sent },
			})
			w.send(prompt2Frame)
			w.expect(t, before[version]...)
			w.send(frame)
			// The prompt of version 1 is in the log alone, which this session does not have.
			w.expect(t, want[version]...)
		})
	}
}

// A client that takes up a running turn at any moment, again and again, has its whole text once.
// Statements 390.
func TestReplayAtAnyMoment(t *testing.T) {
	const chunks = 600
	var whole strings.Builder
	for n := range chunks {
		fmt.Fprint(&whole, n, " ")
	}
	for version, frame := range replayFrames {
		t.Run(version, func(t *testing.T) {
			pace := make(chan struct{}, 3*chunks) // the turn is a little ahead of the client
			w := serveVersion(t, version, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				for n := range chunks {
					if n > 20 {
						<-pace
					}
					text := MessageChunk{Update: UpdateAgentMessage, MessageID: "a1", Content: TextBlock(fmt.Sprint(n, " "))}
					if err := c.Update(ctx, "s1", text); err != nil {
						return "", err
					}
				}
				return StopEndTurn, nil
			}})
			w.send(prompt2Frame)
			seen, frames, replays := "", 0, 0
			for ended := false; !ended; frames++ {
				line := w.read()
				pace <- struct{}{}
				pace <- struct{}{}
				var f struct {
					ID     json.RawMessage
					Params struct {
						Update struct {
							SessionUpdate, MessageID, State string
							Content                         json.RawMessage
						}
					}
				}
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				u := f.Params.Update
				var block ContentBlock
				var blocks []ContentBlock
				switch {
				case u.MessageID == "m": // the history begins
					seen = ""
					replays++
				case u.SessionUpdate == "agent_message_chunk":
					if err := json.Unmarshal(u.Content, &block); err != nil {
						t.Fatal(err)
					}
					seen += *block.Text
				case u.SessionUpdate == "agent_message":
					if err := json.Unmarshal(u.Content, &blocks); err != nil {
						t.Fatal(err)
					}
					seen = *blocks[0].Text
				case u.State == "idle", version == "version 1" && string(f.ID) == "1":
					ended = true
				}
				if frames%50 == 20 && replays < 5 {
					w.send(strings.Replace(frame, `"id":2`, fmt.Sprintf(`"id":"r%d"`, frames), 1))
				}
			}
			if seen != whole.String() || replays == 0 {
				t.Errorf("after %d replays the client has %d bytes of the text, want %d", replays, len(seen), whole.Len())
			}
		})
	}
}

// A history that cannot be read to its end gets an error, and is not shown as complete. Updates that waited
// follow.
// Statements 396.
func TestReplayThatBreaksOff(t *testing.T) {
	more, sent := make(chan struct{}), make(chan struct{})
	w := serve2(t, &fakeSessions{
		turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
			<-more
			err := c.Update(ctx, "s1", MessageChunk{Update: UpdateAgentMessage, MessageID: "a1", Content: TextBlock("text")})
			close(sent)
			return StopEndTurn, err
		},
		replaying: func() { close(more); <-sent },
		broken:    errors.New("disk"),
	})
	w.send(prompt2Frame)
	w.expect(t, "user_message m1", "response 1", "state_update running")
	w.send(replayFrames["version 2"])
	w.expect(t, "user_message m", "user_message m1", "error 2", "agent_message_chunk a1", "state_update idle end_turn")
}
