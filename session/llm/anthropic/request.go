package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// params builds a request from repaired messages.
func (c *Model) params(req llm.Request, messages []llm.Message) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model:     c.cfg.Model,
		MaxTokens: int64(c.maxTokens(req.Thought)),
		Messages:  c.messages(messages),
	}
	c.knows.think(&p, req.Thought)
	if strings.TrimSpace(req.System) != "" {
		p.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for _, t := range req.Tools {
		tool := &anthropic.ToolParam{Name: t.Name, InputSchema: param.Override[anthropic.ToolInputSchemaParam](wire.InputSchema(t.Schema))}
		if t.Description != "" {
			tool.Description = anthropic.String(t.Description)
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	// The three breakpoints of the cache, in the order of the prefix that each closes:
	// tools, system, messages. The last one moves with the conversation.
	if len(p.Tools) > 0 {
		p.Tools[len(p.Tools)-1].OfTool.CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	markLast(p.Messages)
	return p
}

// markLast sets the moving breakpoint at the end of the last user message.
func markLast(messages []anthropic.MessageParam) {
	for _, m := range slices.Backward(messages) {
		if m.Role != anthropic.MessageParamRoleUser {
			continue
		}
		if cc := m.Content[len(m.Content)-1].GetCacheControl(); cc != nil {
			*cc = anthropic.NewCacheControlEphemeralParam()
		}
		return
	}
}

// messages encodes the history. Adjacent messages of one role become one, results of
// tools come first in theirs, and nothing is empty.
func (c *Model) messages(history []llm.Message) []anthropic.MessageParam {
	var out []anthropic.MessageParam
	ids := wire.IDs{}
	for _, m := range history {
		role := anthropic.MessageParamRole(m.Role)
		var blocks []anthropic.ContentBlockParamUnion
		if m.Role == llm.Assistant {
			blocks = c.assistantBlocks(m.Blocks, &ids)
		} else {
			blocks = userBlocks(m.Blocks, &ids)
		}
		if len(blocks) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			continue
		}
		out = append(out, anthropic.MessageParam{Role: role, Content: blocks})
	}
	return out
}

func userBlocks(blocks []llm.Block, ids *wire.IDs) []anthropic.ContentBlockParamUnion {
	var results, rest []anthropic.ContentBlockParamUnion
	for _, b := range blocks {
		switch {
		case b.Result != nil:
			r := &anthropic.ToolResultBlockParam{ToolUseID: ids.Result(b.Result.ID)}
			if b.Result.Failed {
				r.IsError = anthropic.Bool(true)
			}
			r.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: wire.Filled(b.Result.Text)}}}
			results = append(results, anthropic.ContentBlockParamUnion{OfToolResult: r})
		case b.Image != nil:
			rest = append(rest, anthropic.NewImageBlockBase64(b.Image.MIME, base64.StdEncoding.EncodeToString(b.Image.Data)))
		case strings.TrimSpace(b.Text) != "":
			rest = append(rest, anthropic.NewTextBlock(b.Text))
		}
	}
	return append(results, rest...)
}

// assistantBlocks encodes an answer. It sends thoughts only to the model that had them,
// and never at the end of a message, where the API refuses them.
func (c *Model) assistantBlocks(blocks []llm.Block, ids *wire.IDs) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	end := 0 // after the last block other than a thought
	ids.StartAnswer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			if thought, ok := c.thought(*b.Opaque); ok {
				out = append(out, thought)
			}
			continue
		case b.Call != nil:
			out = append(out, anthropic.NewToolUseBlock(ids.Call(b.Call.ID), llm.InputObject(b.Call.Input), llm.SafeName(b.Call.Name)))
		case strings.TrimSpace(b.Text) != "":
			out = append(out, anthropic.NewTextBlock(b.Text))
		default:
			continue
		}
		end = len(out)
	}
	out = out[:end]
	isCall := func(b anthropic.ContentBlockParamUnion) bool { return b.OfToolUse != nil }
	isThought := func(b anthropic.ContentBlockParamUnion) bool {
		return b.OfThinking != nil || b.OfRedactedThinking != nil
	}
	if c.fills.Load() && slices.ContainsFunc(out, isCall) && !slices.ContainsFunc(out, isThought) {
		out = slices.Insert(out, 0, anthropic.NewThinkingBlock("", " ")) // an empty one does not count
	}
	return out
}

// thoughtBlock is the Data of an Opaque: the block as the API sent it. It includes the
// text of the thought, since the copy in the history may have changed, and the
// signature covers the original.
type thoughtBlock struct {
	Type      string `json:"type"` // thinking or redacted_thinking
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

func (c *Model) thought(o llm.Opaque) (anthropic.ContentBlockParamUnion, bool) {
	var t thoughtBlock
	if o.Provider != c.Name() || json.Unmarshal(o.Data, &t) != nil {
		return anthropic.ContentBlockParamUnion{}, false
	}
	if t.Type == "redacted_thinking" {
		return anthropic.NewRedactedThinkingBlock(t.Data), true
	}
	return anthropic.NewThinkingBlock(t.Signature, t.Thinking), true
}
