package openai

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chatRequest is the part of a Chat Completions request that we use, without its tools
// and messages, which are appended in their cached form.
// https://developers.openai.com/api/reference/resources/chat
type chatRequest struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	ExtraBody           *geminiBody    `json:"extra_body,omitempty"`
	ReturnProgress      bool           `json:"return_progress,omitempty"` // llama.cpp
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // string or []chatPart; null next to calls without text, which some servers require
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	chatThoughts
}

// chatThoughts are the thoughts that have to be sent back with the calls that they led
// to, under the server's name for them.
//
//	https://api-docs.deepseek.com/guides/thinking_mode
//	https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
type chatThoughts struct {
	ReasoningContent string           `json:"reasoning_content,omitempty"`
	Reasoning        string           `json:"reasoning,omitempty"`
	ReasoningDetails []thoughtDetails `json:"reasoning_details,omitempty"`
}

type chatPart struct {
	Type     string    `json:"type"` // text or image_url
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

// maxChatID is the longest ID of a call, in characters. Only an error documents it:
// "Expected a string with maximum length 40".
const maxChatID = 40

// chatBody encodes a request of repaired messages.
func (d dialect) chatBody(req llm.Request, messages []llm.Message) wire.Body {
	var system [][]byte
	switch {
	case strings.TrimSpace(req.System) == "":
	case d.supports(withSystem):
		system = [][]byte{plainjson.MustMarshal(chatMessage{Role: "system", Content: req.System})}
	default:
		messages = llm.Merge(slices.Concat([]llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: req.System}}}}, messages))
	}
	kept := d.cachedForms(req.Cache)
	tools := d.tools(kept, req.Tools, d.chatTools)
	encoded := kept.Messages(messages, d.chatIDs, d.chatMessage)
	return wire.NewBody(d.chatHead(req), tools, "messages", system, encoded)
}

// chatHead returns the request without its tools and messages.
func (d dialect) chatHead(req llm.Request) *chatRequest {
	r := &chatRequest{Model: d.endpoint.Model, Stream: true, PromptCacheKey: d.cacheKey(req)}
	served, _ := d.Facts()
	r.ReturnProgress = served.TellsProgress
	if d.supports(withUsage) {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	// OpenAI's thinking models refuse max_tokens; most other servers do not
	// support max_completion_tokens.
	if (d.cfg.Type == ServerOpenAI) == d.supports(withMaxTokens) {
		r.MaxCompletionTokens = d.maxTokens(req)
	} else {
		r.MaxTokens = d.maxTokens(req)
	}
	if d.cfg.Type == ServerGemini {
		r.ExtraBody = d.thinkingConfig(req.Thought)
	} else {
		r.ReasoningEffort = d.effort(req.Thought)
	}
	return r
}

// chatTools encodes the tools.
func (d dialect) chatTools(tools []llm.Tool) []byte {
	if len(tools) == 0 {
		return nil
	}
	list := make([]chatTool, len(tools))
	for i, t := range tools {
		list[i] = chatTool{"function", d.function(t)}
	}
	return plainjson.MustMarshal(list)
}

func (d dialect) function(t llm.Tool) function {
	schema := objectSchema(t.Schema)
	if d.cfg.Type == ServerGemini {
		schema = geminiSchema(schema)
	}
	return function{d.names.ToWire(t.Name), t.Description, schema}
}

// effort returns the level if the model has it, else "".
func (o *Model) effort(level string) string {
	if slices.Contains(o.facts.levels, level) {
		return level
	}
	return ""
}

// cacheKey returns the key by which OpenAI routes requests of one session to the same
// cache. It is derived from the beginning of the conversation.
// https://developers.openai.com/api/docs/guides/prompt-caching
func (d dialect) cacheKey(req llm.Request) string {
	if d.cfg.Type != ServerOpenAI || !d.supports(withCacheKey) {
		return ""
	}
	sum := sha256.New()
	sum.Write([]byte(req.System))
	if len(req.Messages) > 0 {
		for _, b := range req.Messages[0].Blocks {
			sum.Write([]byte("\x00" + b.Text))
		}
	}
	return "zeph-" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// objectSchema returns a schema with type object and properties, as the APIs require.
func objectSchema(raw json.RawMessage) json.RawMessage {
	raw = wire.InputSchema(raw)
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members["properties"] != nil {
		return raw
	}
	end := strings.LastIndexByte(string(raw), '}')
	return json.RawMessage(string(raw[:end]) + `,"properties":{}}`)
}

func (d dialect) chatIDs() wire.IDs {
	return wire.IDs{MaxLen: maxChatID, AsIs: d.cfg.Type != ServerOpenAI, Short: !d.supports(withForeignIDs)}
}

// chatMessage encodes a message as one or more messages of the API.
func (d dialect) chatMessage(ids *wire.IDs, m llm.Message) []byte {
	if m.Role == llm.Assistant {
		return wire.Elements(d.assistantMessage(m.Blocks, ids))
	}
	return wire.Elements(d.userMessages(m.Blocks, ids))
}

// noAnswer fills the gap for servers that require an answer between results and the
// user's next message.
const noAnswer = "[interrupted]"

// userMessages encodes a user's message: each result is a separate message, before
// the user's text and the images.
func (d dialect) userMessages(blocks []llm.Block, ids *wire.IDs) []chatMessage {
	var out []chatMessage
	var parts []chatPart
	images := false
	for _, b := range llm.ImagesAfterResults(blocks) {
		switch {
		case b.Result != nil:
			out = append(out, chatMessage{Role: "tool", ToolCallID: ids.Result(b.Result.ID), Content: resultText(*b.Result)})
		case b.Image != nil:
			images = true
			parts = append(parts, chatPart{Type: "image_url", ImageURL: &imageURL{dataURL(*b.Image)}})
		case strings.TrimSpace(b.Text) != "":
			parts = append(parts, chatPart{Type: "text", Text: b.Text})
		}
	}
	if len(out) > 0 && len(parts) > 0 && !d.supports(withUserNext) {
		out = append(out, chatMessage{Role: string(llm.Assistant), Content: noAnswer})
	}
	switch {
	case images:
		out = append(out, chatMessage{Role: "user", Content: parts})
	case len(parts) > 0: // some servers accept no list
		out = append(out, chatMessage{Role: "user", Content: joinTexts(parts)})
	}
	return out
}

func joinTexts(parts []chatPart) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}

// resultText returns a result for an API without a flag for failures.
func resultText(r llm.ToolResult) string {
	text := wire.NonEmptyResult(r.Text)
	if r.Failed {
		text = "[failed] " + text
	}
	return text
}

func dataURL(i llm.Image) string {
	return "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// chatOpaque is the Data of an Opaque: the thoughts before a call, or the extra content
// of the call with that ID.
type chatOpaque struct {
	Call  string          `json:"call,omitempty"`
	Extra json.RawMessage `json:"extra_content,omitempty"`
	chatThoughts
}

// assistantMessage returns an answer as one message, or none if it is empty.
func (d dialect) assistantMessage(blocks []llm.Block, ids *wire.IDs) []chatMessage {
	msg := chatMessage{Role: string(llm.Assistant)}
	extras := map[string]json.RawMessage{}
	var text []chatPart
	var thoughts chatThoughts
	ids.StartAnswer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			var data chatOpaque
			if b.Opaque.Provider != d.Name() || json.Unmarshal(b.Opaque.Data, &data) != nil {
				continue
			}
			if data.Call != "" {
				extras[data.Call] = data.Extra
			} else {
				thoughts = data.chatThoughts
			}
		case b.Call != nil:
			c := chatCall{ID: ids.Call(b.Call.ID), Type: "function", ExtraContent: extras[b.Call.ID]}
			c.Function.Name, c.Function.Arguments = d.names.ToWire(b.Call.Name), string(llm.InputObject(b.Call.Input))
			msg.ToolCalls = append(msg.ToolCalls, c)
		case strings.TrimSpace(b.Text) != "":
			text = append(text, chatPart{Text: b.Text})
		}
	}
	if len(text) == 0 && len(msg.ToolCalls) == 0 {
		return nil
	}
	if len(text) > 0 || !d.supports(withNull) {
		msg.Content = joinTexts(text)
	}
	if len(msg.ToolCalls) > 0 {
		msg.chatThoughts = thoughts
		d.addSignature(msg.ToolCalls)
	}
	if !d.supports(withGaps) && msg.Reasoning == "" && msg.ReasoningDetails == nil {
		msg.ReasoningContent = cmp.Or(msg.ReasoningContent, " ") // an empty one would be refused
	}
	return []chatMessage{msg}
}
