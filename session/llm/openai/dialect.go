package openai

import (
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// dialect is the form of one request to the model.
type dialect struct {
	*Model
	names           wire.ToolNames
	refusedFeatures feature // a copy, since a concurrent request may change the model's
}

func (o *Model) dialect(names wire.ToolNames) dialect {
	return dialect{o, names, feature(o.refusedFeatures.Load())}
}

// supports reports whether a feature could be used when the request began.
func (d dialect) supports(f feature) bool { return d.refusedFeatures&f == 0 }

// forms are the cached forms of a conversation's messages.
type forms = wire.Encoding[wire.IDs, []byte]

// cachedForms returns the forms in a cache. They depend on all parts of the dialect.
func (d dialect) cachedForms(cache *llm.Cache) *forms {
	return llm.Recall[forms](cache, struct {
		model   *Model
		renamed string
		lacks   feature
	}{d.Model, d.names.Renamed(), d.refusedFeatures})
}

// offeredForms are the forms of the tools that a model was offered last. All sessions share
// them.
type offeredForms struct {
	names wire.ToolCache[wire.ToolNames]
	tools wire.ToolCache[[]byte] // encoded
}

func (o *Model) offered() *offeredForms {
	return wire.Recall[offeredForms](o.cfg.Memory, o.base, o.cfg.API+" "+o.endpoint.Model)
}

// tools returns the encoded tools of a conversation.
func (d dialect) tools(kept *forms, tools []llm.Tool, encode func([]llm.Tool) []byte) []byte {
	return kept.Tools(tools, func(tools []llm.Tool) []byte { return d.offered().tools.Get(d.names.Renamed(), tools, encode) })
}

// body encodes a request of repaired messages.
func (d dialect) body(req llm.Request, messages []llm.Message) wire.Body {
	if d.cfg.API == APIResponses {
		return d.responsesBody(req, messages)
	}
	return d.chatBody(req, messages)
}
