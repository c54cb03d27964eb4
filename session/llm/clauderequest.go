package llm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// params writes a request whose messages are repaired already.
func (c *Claude) params(req Request, messages []Message) anthropic.MessageNewParams {
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
		tool := &anthropic.ToolParam{Name: t.Name, InputSchema: param.Override[anthropic.ToolInputSchemaParam](inputSchema(t.Schema))}
		if t.Description != "" {
			tool.Description = anthropic.String(t.Description)
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	// The three breakpoints of the cache, in the order of the prefix that they
	// close: tools, system, messages. The last one moves with the conversation.
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

// inputSchema makes a schema one that the API takes: an object that says so.
func inputSchema(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if members["type"] != nil {
		return raw
	}
	rest := bytes.TrimSpace(bytes.TrimSpace(raw)[1:])
	if len(members) > 0 {
		rest = append([]byte(","), rest...)
	}
	return append([]byte(`{"type":"object"`), rest...)
}

// messages writes the history: neighbours of one role become one message, the
// results of tools come first in theirs, and nothing is empty.
func (c *Claude) messages(history []Message) []anthropic.MessageParam {
	var out []anthropic.MessageParam
	ids := wireIDs{}
	for _, m := range history {
		role := anthropic.MessageParamRole(m.Role)
		var blocks []anthropic.ContentBlockParamUnion
		if m.Role == Assistant {
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

func userBlocks(blocks []Block, ids *wireIDs) []anthropic.ContentBlockParamUnion {
	var results, rest []anthropic.ContentBlockParamUnion
	for _, b := range blocks {
		switch {
		case b.Result != nil:
			r := &anthropic.ToolResultBlockParam{ToolUseID: ids.result(b.Result.ID)}
			if b.Result.Failed {
				r.IsError = anthropic.Bool(true)
			}
			r.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: filled(b.Result.Text)}}}
			results = append(results, anthropic.ContentBlockParamUnion{OfToolResult: r})
		case b.Image != nil:
			rest = append(rest, anthropic.NewImageBlockBase64(b.Image.MIME, base64.StdEncoding.EncodeToString(b.Image.Data)))
		case strings.TrimSpace(b.Text) != "":
			rest = append(rest, anthropic.NewTextBlock(b.Text))
		}
	}
	return append(results, rest...)
}

// assistantBlocks sends thoughts back only to the model that had them, and never
// at the end of a message, where the API refuses them.
func (c *Claude) assistantBlocks(blocks []Block, ids *wireIDs) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	end := 0 // after the last block that is no thought
	ids.answer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			if thought, ok := c.thought(*b.Opaque); ok {
				out = append(out, thought)
			}
			continue
		case b.Call != nil:
			out = append(out, anthropic.NewToolUseBlock(ids.call(b.Call.ID), callInput(b.Call.Input), wireName(b.Call.Name)))
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

// thoughtBlock is the Data of an Opaque: the block as the API sent it. The text
// of the thought is in it too, since the one beside it in the history may have
// been changed, which the signature would not bear.
type thoughtBlock struct {
	Type      string `json:"type"` // thinking or redacted_thinking
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

func (c *Claude) thought(o Opaque) (anthropic.ContentBlockParamUnion, bool) {
	var t thoughtBlock
	if o.Provider != c.Name() || json.Unmarshal(o.Data, &t) != nil {
		return anthropic.ContentBlockParamUnion{}, false
	}
	if t.Type == "redacted_thinking" {
		return anthropic.NewRedactedThinkingBlock(t.Data), true
	}
	return anthropic.NewThinkingBlock(t.Signature, t.Thinking), true
}

// withoutThoughts takes all opaque blocks out, and tells whether there were any.
func withoutThoughts(messages []Message) (bare []Message, had bool) {
	for _, m := range messages {
		blocks := only(m.Blocks, func(b Block) bool { return b.Opaque == nil })
		had = had || len(blocks) < len(m.Blocks)
		bare = append(bare, Message{Role: m.Role, Blocks: blocks})
	}
	return bare, had
}

// callInput is the input of a call as the API wants it back: an object.
func callInput(input json.RawMessage) json.RawMessage {
	switch {
	case len(input) == 0:
		return json.RawMessage("{}")
	case json.Valid(input) && isObject(input):
		return input
	}
	var text string
	if json.Unmarshal(input, &text) != nil {
		text = string(input)
	}
	return object("not_an_object", text)
}

// wireIDs gives the calls of a conversation IDs that the API takes: of few
// characters, and never the same twice, which other providers do not promise.
type wireIDs struct {
	used  map[string]bool
	most  int                 // characters; 0 means 128
	asIs  bool                // any characters, of any number: some models read them
	short bool                // nine letters and digits, which is what Mistral takes
	open  map[string][]string // IDs of the last answer's calls -> those written
}

// answer begins an assistant message.
func (w *wireIDs) answer() { w.open = map[string][]string{} }

func (w *wireIDs) call(id string) string {
	if w.used == nil {
		w.used = map[string]bool{}
	}
	wire := w.write(id, "")
	for n := 2; w.used[wire]; n++ {
		wire = w.write(id, fmt.Sprintf("_%d", n))
	}
	w.used[wire] = true
	w.open[id] = append(w.open[id], wire)
	return wire
}

// write gives an ID that ends so that it differs from others.
func (w *wireIDs) write(id, end string) string {
	switch most := cmp.Or(w.most, 128); {
	case w.short:
		sum := sha256.Sum256([]byte(id + end))
		return hex.EncodeToString(sum[:])[:9]
	case w.asIs && id != "":
		return id + end
	default:
		return shorten(wireName(id), most-len(end)) + end
	}
}

// result gives the ID of the call that it answers; Repair made sure of one.
func (w *wireIDs) result(id string) string {
	if open := w.open[id]; len(open) > 0 {
		w.open[id] = open[1:]
		return open[0]
	}
	return wireName(id)
}

// wireName replaces what the API refuses in a tool's name or a call's ID.
func wireName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "_"
	}
	return s[:min(len(s), 128)]
}
