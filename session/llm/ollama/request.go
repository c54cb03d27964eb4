package ollama

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chatRequest is the part of a request that we use. The messages come last, so that a
// longer conversation begins with the same bytes.
// https://docs.ollama.com/api-reference/generate-a-chat-message
type chatRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Options  chatOptions   `json:"options"`
	Think    any           `json:"think,omitempty"` // bool or string; nil leaves the choice to the server
	Truncate bool          `json:"truncate"`
	Shift    bool          `json:"shift"`
	Tools    []chatTool    `json:"tools,omitempty"`
	Messages []chatMessage `json:"messages"`
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

// request builds a request for the model of that name.
func (o *Model) request(name string, req llm.Request) chatRequest {
	f, _ := o.known()
	r := chatRequest{
		Model: name, Stream: true, Think: f.think(req.Thought), Options: chatOptions{NumPredict: o.cfg.MaxTokens},
		// Otherwise the server would silently drop the beginning of a prompt that is too
		// long, or the middle of an answer.
		Truncate: false, Shift: false,
		Tools:    chatTools(req.Tools),
		Messages: o.messages(req.System, llm.Merge(llm.Repair(llm.Shown(o, req.Messages)))),
	}
	if !f.remote || o.cfg.Window > 0 {
		r.Options.NumCtx = f.use(o.cfg.Window)
	}
	return r
}

// think returns the value for a level; nil leaves the choice to the server.
func (f modelFacts) think(level string) any {
	switch {
	case !slices.Contains(f.levels, level):
		return nil
	case level == llm.ThoughtOff, level == thinkOn:
		return level == thinkOn
	}
	return level
}

func chatTools(tools []llm.Tool) []chatTool {
	var out []chatTool
	for _, t := range tools {
		tool := chatTool{Type: "function"}
		tool.Function.Name, tool.Function.Description = llm.SafeName(t.Name), t.Description
		tool.Function.Parameters = readableSchema(t.Schema)
		out = append(out, tool)
	}
	return out
}

// messages encodes a repaired history. Each result of a tool is a message of its own.
func (o *Model) messages(system string, history []llm.Message) []chatMessage {
	out := []chatMessage{}
	if strings.TrimSpace(system) != "" {
		out = append(out, chatMessage{Role: "system", Content: system})
	}
	ids := wire.IDs{}
	names := map[string]string{} // ID of a call -> its tool
	for _, m := range history {
		if m.Role == llm.Assistant {
			out = o.assistant(out, m.Blocks, &ids, names)
			continue
		}
		said := chatMessage{Role: "user"}
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				id := ids.Result(b.Result.ID)
				out = append(out, chatMessage{Role: "tool", Content: b.Result.Text, ToolName: names[id], ToolCallID: id})
			case b.Image != nil:
				said.Images = append(said.Images, b.Image.Data)
			case strings.TrimSpace(b.Text) != "":
				said.Content = paragraph(said.Content, b.Text)
			}
		}
		if said.Content != "" || len(said.Images) > 0 {
			out = append(out, said)
		}
	}
	return out
}

// assistant appends an answer. Its thoughts go back with its calls, as models that
// think between calls require, and only to the model that had them.
func (o *Model) assistant(out []chatMessage, blocks []llm.Block, ids *wire.IDs, names map[string]string) []chatMessage {
	said := chatMessage{Role: "assistant"}
	ids.StartAnswer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			var t sentThought
			if b.Opaque.Provider == o.Name() && json.Unmarshal(b.Opaque.Data, &t) == nil {
				said.Thinking = paragraph(said.Thinking, t.Thinking)
			}
		case b.Call != nil:
			call := chatCall{ID: ids.Call(b.Call.ID)}
			call.Function.Index = len(said.ToolCalls)
			call.Function.Name, call.Function.Arguments = llm.SafeName(b.Call.Name), llm.InputObject(b.Call.Input)
			names[call.ID] = call.Function.Name
			said.ToolCalls = append(said.ToolCalls, call)
		case strings.TrimSpace(b.Text) != "":
			said.Content = paragraph(said.Content, b.Text)
		}
	}
	if len(said.ToolCalls) == 0 {
		said.Thinking = ""
	}
	if said.Content == "" && len(said.ToolCalls) == 0 {
		return out
	}
	return append(out, said)
}

// paragraph appends a text after a blank line.
func paragraph(before, text string) string {
	if before == "" {
		return text
	}
	return before + "\n\n" + text
}
