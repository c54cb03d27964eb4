package textcalls

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// howToCall explains to a model how to call tools in a text.
//
//go:embed text.md
var howToCall string

// requestInText rewrites a request for a model without native tool calls: tools go
// into the system prompt, calls and results of the history into the text.
func requestInText(req llm.Request) llm.Request {
	req.Messages = messagesInText(llm.Repair(req.Messages), grammar{tools: req.Tools})
	if len(req.Tools) > 0 {
		req.System = strings.TrimLeft(req.System+"\n\n"+toolList(req.Tools), "\n")
	}
	req.Tools = nil
	return req
}

// toolList describes the tools.
func toolList(tools []llm.Tool) string {
	var b strings.Builder
	b.WriteString("<tools>\n" + howToCall)
	for _, t := range tools {
		fmt.Fprintf(&b, "\n## %s\n", t.Name)
		if about := strings.TrimSpace(t.Description); about != "" {
			b.WriteString(about + "\n")
		}
		if len(t.Schema) > 0 {
			fmt.Fprintf(&b, "Parameters: %s\n", t.Schema)
		}
		b.WriteString(exampleCall(t) + "\n")
	}
	b.WriteString("</tools>")
	return b.String()
}

// exampleCall returns an example of a call of the tool.
func exampleCall(t llm.Tool) string {
	params := ExampleInput(Required(Params(t)))
	switch in := t.Invocation; {
	case in.Param != "":
		return fenced(in.Tag, in.Example)
	case in.Tag != "":
		return fenced(in.Tag, params)
	}
	return fenced(toolCallTag, fmt.Sprintf(`{"tool_id": %s, "params": %s}`, jsonString(t.Name), params))
}

// messagesInText rewrites a repaired history. Adjacent messages of one role become one,
// and empty ones are dropped.
func messagesInText(history []llm.Message, g grammar) []llm.Message {
	var out []llm.Message
	var calls []*llm.ToolCall // of the last answer
	for _, m := range history {
		if m.Role == llm.Assistant {
			calls = nil
		}
		var blocks []llm.Block
		for _, b := range llm.ImagesAfterResults(m.Blocks) {
			switch {
			case b.Call != nil:
				calls = append(calls, b.Call)
				blocks = appendText(blocks, g.writeCall(*b.Call))
			case b.Result != nil:
				blocks = appendText(blocks, resultInText(*b.Result, calls))
			case m.Role == llm.Assistant && b.Text != "":
				blocks = appendText(blocks, strings.TrimSpace(b.Text))
			case m.Role == llm.Assistant && b.Opaque == nil:
				// A thought is not sent.
			default:
				blocks = append(blocks, b)
			}
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Blocks = append(out[n-1].Blocks, blocks...)
			continue
		}
		out = appendMessage(out, m.Role, blocks)
	}
	return out
}

// appendText adds a paragraph.
func appendText(blocks []llm.Block, text string) []llm.Block {
	switch n := len(blocks); {
	case text == "":
		return blocks
	case n > 0 && blocks[n-1].Text != "":
		blocks[n-1].Text += "\n\n" + text
		return blocks
	}
	return append(blocks, llm.Block{Text: text})
}

// writeCall writes a call as its block.
func (g grammar) writeCall(c llm.ToolCall) string {
	if text, ok := textInput(c); ok {
		return fenced(toolCallTag, text)
	}
	if t, ok := llm.FindTool(g.tools, c.Name); ok && t.Invocation.Tag != "" {
		if body, ok := blockBody(t.Invocation, c.Input); ok {
			return fenced(t.Invocation.Tag, body)
		}
	}
	return fenced(toolCallTag, fmt.Sprintf(`{"tool_id": %s, "params": %s}`, jsonString(c.Name), llm.InputObject(c.Input)))
}

// textInput returns the text that the model wrote in place of an object.
func textInput(c llm.ToolCall) (text string, ok bool) {
	ok = bytes.HasPrefix(c.Input, []byte(`"`)) && json.Unmarshal(c.Input, &text) == nil
	return text, ok
}

// blockBody returns the text of the block that means the input; ok is false if there is
// no such block.
func blockBody(in llm.Invocation, input json.RawMessage) (body string, ok bool) {
	if in.Param == "" {
		return string(input), llm.IsObject(input)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || len(members) != 1 || json.Unmarshal(members[in.Param], &body) != nil {
		return "", false
	}
	return body, strings.TrimSpace(body) != "" && !strings.Contains(body, "\r")
}

// resultInText writes a result so that no line of it can end it.
func resultInText(r llm.ToolResult, calls []*llm.ToolCall) string {
	head, unreadable := "[tool_result", ""
	for i, c := range calls {
		if c.ID != r.ID {
			continue
		}
		head += fmt.Sprintf(" %d: %s", i+1, llm.SafeName(c.Name))
		if text, ok := textInput(*c); ok {
			_, _, err := parseToolCall(text)
			unreadable = fmt.Sprintf("\nThe block could not be read: %v.", err)
		}
		break
	}
	if r.Failed {
		head += ", failed"
	}
	return head + "]\n" + fenced("output", strings.TrimSuffix(r.Text, "\n")) + unreadable
}

// jsonString returns a JSON string.
func jsonString(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(raw)
}

func appendMessage(out []llm.Message, role llm.Role, blocks []llm.Block) []llm.Message {
	if len(blocks) == 0 {
		return out
	}
	return append(out, llm.Message{Role: role, Blocks: blocks})
}
