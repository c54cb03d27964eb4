package bedrock

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// request is a request without its tools and messages, which are appended in their cached form. The model is in the path.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
type request struct {
	Inference *inference     `json:"inferenceConfig,omitempty"`
	Fields    map[string]any `json:"additionalModelRequestFields,omitempty"`
	System    []any          `json:"system,omitempty"`
}

type inference struct {
	MaxTokens int `json:"maxTokens"`
}

type textBlock struct {
	Text string `json:"text"`
}

type toolSpec struct {
	ToolSpec struct {
		Name        string      `json:"name"`
		Description string      `json:"description,omitempty"`
		InputSchema inputSchema `json:"inputSchema"`
	} `json:"toolSpec"`
}

type inputSchema struct {
	JSON json.RawMessage `json:"json"`
}

// cachePoint is a mark of the provider's cache. A request has three, after the prefix that each closes: tools, system,
// messages. The last one moves with the conversation.
// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
var cachePoint = json.RawMessage(`{"cachePoint":{"type":"default"}}`)

// dialect holds all settings that the form of a message depends on.
type dialect struct {
	model   *Model
	renamed string // tools with another name in requests
}

// encoding is the cached form of a conversation.
type encoding = wire.Encoding[wire.IDs, form]

// maxID is the longest ID of a call, in characters.
const maxID = 64

// body returns a request for repaired messages, in parts.
func (b *Model) body(req llm.Request, messages []llm.Message, names wire.ToolNames, without feature) wire.Body {
	kept := llm.Recall[encoding](req.Cache, dialect{b, names.Renamed()})
	forms := kept.Messages(messages, func() wire.IDs { return wire.IDs{MaxLen: maxID} }, func(ids *wire.IDs, m llm.Message) form {
		return b.encode(ids, names, m)
	})
	cached := without&caching == 0
	body := wire.Body{bytes.TrimSuffix(plainjson.MustMarshal(b.head(req, forms, cached)), []byte("}"))}
	if len(body[0]) > 1 {
		body[0] = append(body[0], ',')
	}
	tools := req.Tools
	if len(tools) == 0 {
		tools = calledTools(messages)
	}
	if len(tools) > 0 {
		list := kept.Tools(tools, func(tools []llm.Tool) []byte { return catalogue(tools, names) })
		body = append(body, []byte(`"toolConfig":{"tools":[`), list)
		if f := Family(b.cfg.Model); cached && (f == "" || strings.HasPrefix(f, "anthropic.")) { // Nova refuses a mark there
			body = append(body, []byte(","), cachePoint)
		}
		body = append(body, []byte(`]},`))
	}
	return append(appendMessages(append(body, []byte(`"messages":[`)), forms, cached), end)
}

// calledTools returns the tools that a conversation has called, since a request with their results must have tools.
func calledTools(messages []llm.Message) (tools []llm.Tool) {
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Call != nil && !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == b.Call.Name }) {
				tools = append(tools, llm.Tool{Name: b.Call.Name})
			}
		}
	}
	return tools
}

// head returns the request without its tools and messages.
func (b *Model) head(req llm.Request, forms []form, cached bool) request {
	var r request
	limit := b.cfg.MaxTokens
	if t := b.thinking; t != nil {
		if limit == 0 {
			limit = t.Limit(req.Thought)
		}
		if slices.Contains(t.Levels(), req.Thought) {
			r.Fields = t.Fields(req.Thought, limit, thoughtless(forms))
		}
	}
	if limit > 0 {
		r.Inference = &inference{limit}
	}
	for _, text := range []string{req.System, req.Project} {
		if strings.TrimSpace(text) != "" {
			r.System = append(r.System, textBlock{text})
		}
	}
	if cached && len(r.System) > 0 {
		r.System = append(r.System, cachePoint)
	}
	return r
}

// catalogue encodes the tools, with commas between them.
func catalogue(tools []llm.Tool, names wire.ToolNames) []byte {
	list := make([]toolSpec, len(tools))
	for i, t := range tools {
		s := &list[i].ToolSpec
		s.Name, s.Description, s.InputSchema.JSON = names.ToWire(t.Name), t.Description, wire.InputSchema(t.Schema)
	}
	return wire.Elements(list)
}

// thoughtless reports whether the answers before the last results began without a thought, as after a change of the level
// between them. Claude then refuses a budget until the next prompt.
func thoughtless(forms []form) bool {
	forms = merged(forms)
	for i := len(forms) - 1; i > 0 && forms[i].first == isResult; i -= 2 {
		if forms[i-1].first == isThought {
			return false
		}
		if i < 2 || forms[i-2].last != isResult {
			return true // the prompt is there
		}
	}
	return false
}

// merged returns the messages as they are sent, without their blocks.
func merged(forms []form) []form {
	var out []form
	for _, f := range forms {
		switch n := len(out); {
		case len(f.blocks) == 0:
		case n > 0 && out[n-1].role == f.role:
			out[n-1].last = f.last
		default:
			out = append(out, form{role: f.role, first: f.first, last: f.last})
		}
	}
	return out
}

// The parts between the messages of a request, and between their blocks.
var (
	messageStarts = map[llm.Role][]byte{
		llm.User:      []byte(`{"role":"user","content":[`),
		llm.Assistant: []byte(`{"role":"assistant","content":[`),
	}
	comma = []byte(",")
	next  = []byte("]},")
	end   = []byte("]}")
)

// appendMessages appends the messages to a body. Adjacent messages of one role become one, and empty ones are left out. A mark
// follows the last message of the user.
func appendMessages(body wire.Body, forms []form, cached bool) wire.Body {
	marked := -1
	for i, f := range forms {
		if cached && f.role == llm.User && len(f.blocks) > 0 {
			marked = i
		}
	}
	var role llm.Role
	for i, f := range forms {
		switch {
		case len(f.blocks) == 0:
			continue
		case role == "":
			body = append(body, messageStarts[f.role])
		case f.role == role:
			body = append(body, comma)
		default:
			body = append(body, next, messageStarts[f.role])
		}
		role = f.role
		body = append(body, f.blocks)
		if i == marked {
			body = append(body, comma, cachePoint)
		}
	}
	if role != "" {
		body = append(body, end)
	}
	return body
}
