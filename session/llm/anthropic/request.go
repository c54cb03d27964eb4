package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// request is a request without its tools and messages, which are appended in their
// cached form.
// https://platform.claude.com/docs/en/api/messages/create
type request struct {
	Model        string          `json:"model,omitempty"`             // at Vertex AI it is in the path
	Version      string          `json:"anthropic_version,omitempty"` // only at Vertex AI
	MaxTokens    int             `json:"max_tokens"`
	Stream       bool            `json:"stream"`
	Thinking     *thinkingConfig `json:"thinking,omitempty"`
	OutputConfig *outputConfig   `json:"output_config,omitempty"`
	System       []textBlock     `json:"system,omitempty"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// cacheControl is a breakpoint of the provider's cache. A request has three, in the
// order of the prefix that each closes: tools, system, messages. The last one moves with the
// conversation.
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
type cacheControl struct {
	Type string `json:"type"`
}

var (
	breakpoint = &cacheControl{"ephemeral"}
	marker     = []byte(`,"cache_control":{"type":"ephemeral"}`) // before the end of a block
)

// dialect holds all settings that the form of a message depends on.
type dialect struct {
	model         *Model
	fillsThoughts bool // adds a thought to calls without one
}

// encoding is the cached form of a conversation, kept from one request to the next.
type encoding = wire.Encoding[wire.IDs, form]

// body returns a request for repaired messages, in parts.
func (c *Model) body(req llm.Request, messages []llm.Message) wire.Body {
	d := dialect{c, c.fillsThoughts.Load()} // a concurrent request may change it
	kept := llm.Recall[encoding](req.Cache, d)
	forms := kept.Messages(messages, func() wire.IDs { return wire.IDs{} }, d.encode)
	body := wire.Body{bytes.TrimSuffix(plainjson.MustMarshal(c.head(req, forms)), []byte("}"))}
	if len(req.Tools) > 0 {
		body = append(body, []byte(`,"tools":`), kept.Tools(req.Tools, catalogue))
	}
	return append(appendMessages(append(body, []byte(`,"messages":[`)), forms), end)
}

// head returns the request without its tools and messages.
func (c *Model) head(req llm.Request, forms []form) request {
	r := request{Model: c.cfg.Model, MaxTokens: c.maxTokens(req), Stream: true}
	if c.cfg.Vertex {
		r.Model, r.Version = "", vertexVersion
	}
	r.Thinking, r.OutputConfig = c.facts.thinkingConfig(req.Thought, r.MaxTokens, func() bool { return thoughtless(forms) })
	for _, text := range []string{req.System, req.Project} {
		if strings.TrimSpace(text) != "" {
			r.System = append(r.System, textBlock{Type: typeText, Text: text})
		}
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].CacheControl = breakpoint
	}
	return r
}

// catalogue encodes the tools.
func catalogue(tools []llm.Tool) []byte {
	list := make([]tool, len(tools))
	for i, t := range tools {
		list[i] = tool{Name: t.Name, Description: t.Description, InputSchema: wire.InputSchema(t.Schema)}
	}
	list[len(list)-1].CacheControl = breakpoint
	return plainjson.MustMarshal(list)
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

// appendMessages appends the messages to a body. Adjacent messages of one role become one, and
// empty ones are left out. The last block of the last user message is marked.
func appendMessages(body wire.Body, forms []form) wire.Body {
	body = slices.Grow(body, 3*len(forms)+4)
	marked := lastIndexOf(forms, llm.User)
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
		if i == marked {
			at := len(f.blocks) - len("}")
			body = append(body, f.blocks[:at], marker, f.blocks[at:])
		} else {
			body = append(body, f.blocks)
		}
	}
	if role != "" {
		body = append(body, end)
	}
	return body
}

// lastIndexOf returns the index of the last message of a role that is not empty, or -1.
func lastIndexOf(forms []form, role llm.Role) int {
	for i := len(forms) - 1; i >= 0; i-- {
		if forms[i].role == role && len(forms[i].blocks) > 0 {
			return i
		}
	}
	return -1
}
