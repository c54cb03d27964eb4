package openai

import (
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// responsesRequest is the part of a Responses request that we use, without its tools and
// input, which are appended in their cached form.
// https://developers.openai.com/api/reference/resources/responses
type responsesRequest struct {
	Model           string     `json:"model"`
	Instructions    string     `json:"instructions,omitempty"`
	Stream          bool       `json:"stream"`
	Store           bool       `json:"store"`
	Include         []string   `json:"include,omitempty"`
	Reasoning       *reasoning `json:"reasoning,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string     `json:"prompt_cache_key,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// responsesTool is a function. Strict is false, since otherwise the API would require
// every property.
type responsesTool struct {
	Type string `json:"type"`
	function
	Strict bool `json:"strict"`
}

// inputItem is a message, a call, a result or a thought.
type inputItem struct {
	Type    string `json:"type"`
	Role    string `json:"role,omitempty"`
	Content any    `json:"content,omitempty"` // string or []inputPart

	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments string  `json:"arguments,omitempty"`
	Output    *string `json:"output,omitempty"`

	thoughtItem
}

type inputPart struct {
	Type     string `json:"type"` // input_text or input_image
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

// thoughtItem is the Data of an Opaque, without its type: thoughts as the API sent
// them, encrypted or, at other servers, in plain words.
type thoughtItem struct {
	ID               string          `json:"id,omitempty"`
	Summary          json.RawMessage `json:"summary,omitempty"`
	Content          json.RawMessage `json:"content,omitempty"`
	EncryptedContent string          `json:"encrypted_content,omitempty"`
}

// maxCallID is the longest ID of a call, in characters.
const maxCallID = 64

// responsesBody encodes a request of repaired messages.
func (d dialect) responsesBody(req llm.Request, messages []llm.Message) wire.Body {
	kept := d.cachedForms(req.Cache)
	tools := d.tools(kept, req.Tools, d.responsesTools)
	encoded := kept.Messages(messages, func() wire.IDs { return wire.IDs{MaxLen: maxCallID} }, d.inputItems)
	return wire.NewBody(d.responsesHead(req), tools, "input", d.projectItem(req.Project), encoded)
}

// projectItem encodes the part of the system prompt that differs between projects.
func (d dialect) projectItem(text string) [][]byte {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	role := "developer"
	if d.cfg.Type == ServerCompatible { // it may not know the role
		role = string(llm.User)
	}
	return [][]byte{wire.Elements([]inputItem{{Type: "message", Role: role, Content: []inputPart{{Type: "input_text", Text: text}}}})}
}

// responsesHead returns the request without its tools and input.
func (d dialect) responsesHead(req llm.Request) *responsesRequest {
	r := &responsesRequest{Model: d.endpoint.Model, Instructions: req.System, Stream: true,
		MaxOutputTokens: d.maxTokens(req), PromptCacheKey: d.cacheKey(req)}
	if d.facts.noThoughts {
		return r
	}
	if d.supports(withEncrypted) {
		r.Include = []string{"reasoning.encrypted_content"}
	}
	think := reasoning{Effort: d.effort(req.Thought)}
	if d.supports(withSummaries) {
		think.Summary = "auto"
	}
	if think != (reasoning{}) {
		r.Reasoning = &think
	}
	return r
}

// responsesTools encodes the tools.
func (d dialect) responsesTools(tools []llm.Tool) []byte {
	if len(tools) == 0 {
		return nil
	}
	list := make([]responsesTool, len(tools))
	for i, t := range tools {
		list[i] = responsesTool{Type: "function", function: d.function(t)}
	}
	return plainjson.MustMarshal(list)
}

// inputItems encodes a message as the items that it becomes.
func (d dialect) inputItems(ids *wire.IDs, m llm.Message) []byte {
	if m.Role == llm.Assistant {
		return wire.Elements(d.answerItems(m.Blocks, ids))
	}
	return wire.Elements(replyItems(m.Blocks, ids))
}

// replyItems encodes a user's message: each result is a separate item.
func replyItems(blocks []llm.Block, ids *wire.IDs) []inputItem {
	var items []inputItem
	var parts []inputPart
	for _, b := range llm.ImagesAfterResults(blocks) {
		switch {
		case b.Result != nil:
			text := resultText(*b.Result)
			items = append(items, inputItem{Type: "function_call_output", CallID: ids.Result(b.Result.ID), Output: &text})
		case b.Image != nil:
			parts = append(parts, inputPart{Type: "input_image", ImageURL: dataURL(*b.Image)})
		case strings.TrimSpace(b.Text) != "":
			parts = append(parts, inputPart{Type: "input_text", Text: b.Text})
		}
	}
	if len(parts) > 0 {
		items = append(items, inputItem{Type: "message", Role: string(llm.User), Content: parts})
	}
	return items
}

// answerItems encodes an answer. Thoughts go only to the model that had them, and never
// last: the API refuses a thought without its sequel.
func (d dialect) answerItems(blocks []llm.Block, ids *wire.IDs) []inputItem {
	var items []inputItem
	end := 0 // after the last item other than a thought
	ids.StartAnswer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			var t thoughtItem
			if b.Opaque.Provider == d.Name() && json.Unmarshal(b.Opaque.Data, &t) == nil && (t.EncryptedContent != "" || t.Content != nil) {
				item := inputItem{Type: "reasoning", thoughtItem: t}
				if t.Content != nil {
					item.Content = t.Content
				}
				items = append(items, item)
			}
			continue
		case b.Call != nil:
			items = append(items, inputItem{Type: "function_call", CallID: ids.Call(b.Call.ID), Name: d.names.ToWire(b.Call.Name),
				Arguments: string(llm.InputObject(b.Call.Input))})
		case strings.TrimSpace(b.Text) != "":
			items = append(items, inputItem{Type: "message", Role: string(llm.Assistant), Content: b.Text})
		default:
			continue
		}
		end = len(items)
	}
	return items[:end]
}
