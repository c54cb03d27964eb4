package acp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// Every text of a frame is changed by Exit of its session, except words of the user and the model, and
// what the client carries out.
func TestExit(t *testing.T) {
	const secret = "hunter2"
	input := json.RawMessage(`{"a":"` + secret + `"}`)
	text := secret
	card := ToolCall{
		Update: UpdateToolCall, ToolCallID: "c", Title: secret, RawInput: input, RawOutput: map[string]any{"out": secret},
		Content:   []ToolContent{BlockContent(TextBlock(secret)), {Type: "diff", Path: "/" + secret, OldText: &text, NewText: &text}},
		Locations: []ToolCallLocation{{Path: "/" + secret}}, Terminal: &TerminalUpdate{Output: &text},
	}
	update := func(u SessionUpdate) func(context.Context, *Client) {
		return func(ctx context.Context, c *Client) { _ = c.Update(ctx, "s1/child", u) }
	}
	for name, tt := range map[string]struct {
		send func(context.Context, *Client)
		kept int // occurrences of the secret
	}{
		"card":    {update(card), 0},
		"output":  {update(TerminalChunk{TerminalID: "t", ToolCallID: "c", Data: secret}), 0},
		"plan":    {update(PlanUpdate{Entries: []PlanEntry{{Content: secret}}}), 0},
		"notice":  {update(Notice{Update: UpdateNotice, Title: secret}), 0},
		"message": {update(MessageChunk{Update: UpdateAgentMessage, Content: TextBlock(secret)}), 0},
		"words":   {update(MessageChunk{Update: UpdateAgentMessage, Content: TextBlock(secret), Words: true}), 1},
		"permission": {func(_ context.Context, c *Client) {
			sendOnly(c, "session/request_permission", RequestPermissionRequest{SessionID: "s1", ToolCall: card, Options: []PermissionOption{{Name: secret}}})
		}, 0},
		"elicitation": {func(_ context.Context, c *Client) {
			sendOnly(c, "elicitation/create", elicitation{SessionID: "s1", Message: secret, RequestedSchema: input, URL: "https://" + secret})
		}, 1},
		"write": {func(_ context.Context, c *Client) {
			sendOnly(c, "fs/write_text_file", fileRequest{SessionID: "s1", Path: "/" + secret, Content: &text})
		}, 2},
		"terminal": {func(_ context.Context, c *Client) {
			sendOnly(c, "terminal/create", CreateTerminalRequest{SessionID: "s1", Command: secret, Args: []string{secret}, Env: []EnvVariable{{secret, secret}}})
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				tt.send(ctx, c)
				return StopEndTurn, nil
			}}
			s := newServer(t, f)
			s.Exit = func(string) texts.Change {
				return texts.Change{
					Text: func(s string) string { return strings.ReplaceAll(s, secret, "***") },
					JSON: func(d json.RawMessage) json.RawMessage {
						return json.RawMessage(strings.ReplaceAll(string(d), secret, "***"))
					},
				}
			}
			w := serve(t, s)
			w.send(open)
			w.read()
			w.send(promptFrame("1"))
			if line := w.read(); strings.Count(line, secret) != tt.kept {
				t.Errorf("the secret occurs %d times, want %d: %s", strings.Count(line, secret), tt.kept, line)
			}
		})
	}
}

// sendOnly sends a request and ignores its answer.
func sendOnly(c *Client, method string, params any) {
	if call, err := c.send(context.Background(), method, params); err == nil {
		call.ignoreAnswer()
	}
}

// No Markdown that the agent sends makes a client request an image, apart from the model's messages,
// which agent and transcript rewrite. Diffs, inputs and outputs are no Markdown.
func TestImages(t *testing.T) {
	const image = "![x](https://evil.example)"
	text := image
	block := TextBlock(image)
	for name, tt := range map[string]struct {
		update SessionUpdate
		kept   int
	}{
		"card": {ToolCall{
			Update: UpdateToolCall, ToolCallID: "c", Title: image, RawOutput: image,
			Content: []ToolContent{BlockContent(block), {Type: "diff", Path: "/a", OldText: &text, NewText: &text}},
		}, 3},
		"plan":       {PlanUpdate{Entries: []PlanEntry{{Content: image}}, Markdown: image}, 0},
		"notice":     {Notice{Update: UpdateNotice, Title: image, Description: image}, 0},
		"title":      {InfoUpdate{Update: UpdateInfo, Title: image}, 0},
		"compaction": {CompactionUpdate{Update: UpdateCompaction, Summary: []ContentBlock{block}, Error: image}, 0},
		"sub-agent":  {SubagentUpdate{Update: UpdateSubagent, Title: image, Description: image}, 0},
		"task":       {SessionMessage{Update: UpdateSessionText, Content: []ContentBlock{block}}, 0},
		"message":    {MessageChunk{Update: UpdateAgentMessage, Content: block}, 0},
		"words":      {MessageChunk{Update: UpdateUserMessage, Content: block, Words: true}, 1},
	} {
		data, err := json.Marshal(withoutImages(tt.update))
		if err != nil || strings.Count(string(data), image) != tt.kept {
			t.Errorf("%s: %d images, want %d: %s", name, strings.Count(string(data), image), tt.kept, data)
		}
	}
	q := RequestPermissionRequest{ToolCall: ToolCall{Title: image, Content: []ToolContent{BlockContent(block)}}, Options: []PermissionOption{{Name: image}}}
	if data, err := json.Marshal(q.shown()); err != nil || strings.Contains(string(data), image) {
		t.Errorf("a question: %s", data)
	}
	if *block.Text != image {
		t.Errorf("the block was changed to %q", *block.Text)
	}
}
