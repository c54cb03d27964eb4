package ollama

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chatRequest is the part of a request that we use, without its tools and messages, which
// are appended in their cached form.
// https://docs.ollama.com/api-reference/generate-a-chat-message
type chatRequest struct {
	Model   string      `json:"model"`
	Stream  bool        `json:"stream"`
	Options chatOptions `json:"options"`
	Think   any         `json:"think,omitempty"` // bool or string; nil leaves the choice to the server
	// Unless these are false, the server silently drops the beginning of a prompt that is
	// too long, or the middle of an answer.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`
}

type chatOptions struct {
	NumCtx     int `json:"num_ctx,omitempty"`
	NumPredict int `json:"num_predict,omitempty"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// forms are the cached forms of a conversation's messages.
type forms = wire.Encoding[callNames, []byte]

// callNames are the calls of a conversation so far.
type callNames struct {
	wire.IDs
	tools map[string]string // ID of a call -> its tool
}

// body encodes a request for the model of that name.
func (o *Model) body(name string, req llm.Request) wire.Body {
	kept := llm.Recall[forms](req.Cache, o)
	begin := func() callNames { return callNames{tools: map[string]string{}} }
	messages := kept.Messages(llm.WithProject(llm.Merge(llm.Repair(llm.WithoutRefusedImages(o, req.Messages))), req.Project), begin, o.message)
	var system [][]byte
	if strings.TrimSpace(req.System) != "" {
		system = [][]byte{plainjson.MustMarshal(chatMessage{Role: "system", Content: req.System})}
	}
	tools := kept.Tools(req.Tools, func(tools []llm.Tool) []byte {
		return wire.Recall[wire.ToolCache[[]byte]](o.cfg.Memory, o.base.String(), name).Get("", tools, chatTools)
	})
	return wire.NewBody(o.head(name, req), tools, "messages", system, messages)
}

// head returns the request without its tools and messages.
func (o *Model) head(name string, req llm.Request) chatRequest {
	f := o.facts()
	r := chatRequest{Model: name, Stream: true, Think: f.thinkValue(req.Thought), Options: chatOptions{NumPredict: o.cfg.MaxTokens}}
	if !f.remote || o.cfg.Window > 0 {
		r.Options.NumCtx = f.windowFor(o.cfg.Window)
	}
	return r
}

// thinkValue returns the value for a level; nil leaves the choice to the server.
func (f modelFacts) thinkValue(level string) any {
	switch {
	case !slices.Contains(f.levels, level):
		return nil
	case level == llm.ThoughtOff, level == thinkOn:
		return level == thinkOn
	}
	return level
}

// chatTools encodes the tools.
func chatTools(tools []llm.Tool) []byte {
	if len(tools) == 0 {
		return nil
	}
	list := make([]chatTool, len(tools))
	for i, t := range tools {
		f := &list[i].Function
		list[i].Type, f.Name, f.Description, f.Parameters = "function", llm.SafeName(t.Name), t.Description, readableSchema(t.Schema)
	}
	return plainjson.MustMarshal(list)
}

// message encodes a message as one or more messages of the API.
func (o *Model) message(calls *callNames, m llm.Message) []byte {
	if m.Role == llm.Assistant {
		return wire.Elements(o.assistantMessages(m.Blocks, calls))
	}
	return wire.Elements(userMessages(m.Blocks, calls))
}

// userMessages encodes a user's message. Each result of a tool is a separate message.
func userMessages(blocks []llm.Block, calls *callNames) (out []chatMessage) {
	message := chatMessage{Role: "user"}
	for _, b := range llm.ImagesAfterResults(blocks) {
		switch {
		case b.Result != nil:
			id := calls.Result(b.Result.ID)
			out = append(out, chatMessage{Role: "tool", Content: b.Result.Text, ToolName: calls.tools[id], ToolCallID: id})
		case b.Image != nil:
			message.Images = append(message.Images, b.Image.Data)
		case strings.TrimSpace(b.Text) != "":
			message.Content = paragraph(message.Content, b.Text)
		}
	}
	if message.Content != "" || len(message.Images) > 0 {
		out = append(out, message)
	}
	return out
}

// assistantMessages encodes an answer, which may be empty. Its thoughts go back with its
// calls, as models that think between calls require, and only to the model that had them.
func (o *Model) assistantMessages(blocks []llm.Block, calls *callNames) []chatMessage {
	message := chatMessage{Role: "assistant"}
	calls.StartAnswer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			var t sentThought
			if b.Opaque.Provider == o.Name() && json.Unmarshal(b.Opaque.Data, &t) == nil {
				message.Thinking = paragraph(message.Thinking, t.Thinking)
			}
		case b.Call != nil:
			call := chatCall{ID: calls.Call(b.Call.ID)}
			call.Function.Index = len(message.ToolCalls)
			call.Function.Name, call.Function.Arguments = llm.SafeName(b.Call.Name), llm.InputObject(b.Call.Input)
			calls.tools[call.ID] = call.Function.Name
			message.ToolCalls = append(message.ToolCalls, call)
		case strings.TrimSpace(b.Text) != "":
			message.Content = paragraph(message.Content, b.Text)
		}
	}
	if len(message.ToolCalls) == 0 {
		message.Thinking = ""
	}
	if message.Content == "" && len(message.ToolCalls) == 0 {
		return nil
	}
	return []chatMessage{message}
}

// paragraph appends a text after a blank line.
func paragraph(before, text string) string {
	if before == "" {
		return text
	}
	return before + "\n\n" + text
}
