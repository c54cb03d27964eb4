package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// request is a request without its tools and contents, which are appended in their cached form.
// https://ai.google.dev/api/generate-content
type request struct {
	SystemInstruction *content          `json:"systemInstruction,omitempty"`
	GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	ThinkingConfig  *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

type tools struct {
	FunctionDeclarations []functionDeclaration `json:"functionDeclarations"`
}

type functionDeclaration struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description,omitempty"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// dialect is the form of one request to the model.
type dialect struct {
	*Model
	names   wire.ToolNames
	refused feature // a copy, since a concurrent request may change the model's
}

// supports reports whether a feature could be used when the request began.
func (d dialect) supports(f feature) bool { return d.refused&f == 0 }

// encoding is the cached form of a conversation, kept from one request to the next.
type encoding = wire.Encoding[state, []byte]

// offeredForms are the forms of the tools that a model was offered last. All sessions share them.
type offeredForms struct {
	names wire.ToolCache[wire.ToolNames]
	tools wire.ToolCache[[]byte] // encoded
}

func (g *Model) offered() *offeredForms {
	return wire.Recall[offeredForms](g.cfg.Memory, g.base, "generateContent "+g.cfg.Model)
}

// body encodes a request of repaired and merged messages.
func (d dialect) body(req llm.Request, messages []llm.Message) wire.Body {
	kept := llm.Recall[encoding](req.Cache, struct {
		model   *Model
		renamed string
		refused feature
	}{d.Model, d.names.Renamed(), d.refused})
	head := request{GenerationConfig: d.generationConfig(req.Thought)}
	messages = llm.WithProject(messages, req.Project) // the tools, which all projects share, are before the contents
	switch {
	case strings.TrimSpace(req.System) == "":
	case d.supports(withSystem):
		head.SystemInstruction = textContent(req.System)
	default:
		messages = llm.WithProject(messages, req.System)
	}
	encoded := kept.Messages(messages, func() state { return state{IDs: wire.IDs{AsIs: true}} }, d.encode)
	var offered []byte
	if len(req.Tools) > 0 {
		offered = kept.Tools(req.Tools, func(list []llm.Tool) []byte {
			return d.offered().tools.Get(d.names.Renamed(), list, d.catalogue)
		})
	}
	return wire.NewBody(head, offered, "contents", encoded)
}

// textContent returns text as content.
func textContent(text string) *content { return &content{Parts: []part{{Text: &text}}} }

// generationConfig limits the answer, and asks for a level of thinking that the model has and for summaries of the thoughts; nil
// leaves it all to the server.
func (d dialect) generationConfig(level string) *generationConfig {
	c := generationConfig{MaxOutputTokens: d.cfg.MaxTokens}
	if d.thinks() {
		c.ThinkingConfig = &thinkingConfig{IncludeThoughts: level != "none"}
		if slices.Contains(d.facts.Levels, level) {
			budget, name := d.facts.Thinking(level)
			c.ThinkingConfig.ThinkingBudget, c.ThinkingConfig.ThinkingLevel = budget, strings.ToUpper(name)
		}
	}
	if c == (generationConfig{}) {
		return nil
	}
	return &c
}

// thinks reports whether thoughts can be asked for. A model that does not think refuses that.
func (d dialect) thinks() bool {
	return d.supports(withThinking) && !d.facts.NoThoughts && (d.facts.Prefix != "" || strings.HasPrefix(d.cfg.Model, "gemini-"))
}

// catalogue encodes the tools.
func (d dialect) catalogue(list []llm.Tool) []byte {
	declarations := make([]functionDeclaration, len(list))
	for i, t := range list {
		declarations[i] = functionDeclaration{d.names.ToWire(t.Name), t.Description, schemaOf(wire.InputSchema(t.Schema))}
	}
	return plainjson.MustMarshal([]tools{{declarations}})
}
