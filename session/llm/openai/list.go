package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// noChat matches listed models of OpenAI that are not for conversations in text.
var noChat = lazyregexp.New(`embed|tts|whisper|dall-e|image|sora|audio|realtime|transcribe|moderation|` +
	`instruct|babbage|davinci|computer-use|deep-research|search|live|translate`)

// List returns the provider's models. For OpenAI and Gemini it leaves out models that,
// by their names, are not for conversations.
func (o *Model) List(ctx context.Context) ([]llm.Choice, error) {
	if err := o.Ready(); err != nil {
		return nil, err
	}
	list, err := o.fetchModels(ctx)
	if err != nil {
		return nil, o.endpoint.Outcome(ctx, err)
	}
	var choices []llm.Choice
	for _, m := range list {
		id := m.ID
		switch o.cfg.Type {
		case ServerGemini:
			if id = models.ID(id); !models.IsForChat(id) {
				continue
			}
		case ServerOpenAI:
			if noChat.MatchString(id) {
				continue
			}
		}
		if id == "" {
			continue
		}
		choices = append(choices, llm.Choice{
			Name: o.endpoint.Provider + ":" + id, Title: id,
			Description: "Model of provider " + o.endpoint.Provider, Open: true,
		})
	}
	return choices, nil
}

// servedModel is a model as a server lists it. Servers name the window differently:
// vLLM, Groq, OpenRouter and Together, Mistral, llama.cpp.
type servedModel struct {
	ID               string          `json:"id"`
	MaxModelLen      wire.TokenCount `json:"max_model_len"`
	ContextWindow    wire.TokenCount `json:"context_window"`
	ContextLength    wire.TokenCount `json:"context_length"`
	MaxContextLength wire.TokenCount `json:"max_context_length"`
	Meta             struct {
		NCtx    wire.TokenCount `json:"n_ctx"`
		Trained wire.TokenCount `json:"n_ctx_train"` // the window may be smaller
	} `json:"meta"`
}

func (m servedModel) window() int {
	return int(cmp.Or(m.Meta.NCtx, m.MaxModelLen, m.ContextWindow, m.ContextLength, m.MaxContextLength, m.Meta.Trained))
}

// windowIn returns the window of a model in a list; 0 means unknown. A server with one model
// answers with it to any name.
func windowIn(list []servedModel, name string) int {
	i := slices.IndexFunc(list, func(m servedModel) bool { return m.ID == name })
	switch {
	case i >= 0:
		return list[i].window()
	case len(list) == 1:
		return list[0].window()
	}
	return 0
}

// modelList is a server's list of models. Together's is not in an object.
type modelList struct {
	Data []servedModel `json:"data"`
}

// UnmarshalJSON parses both forms, and skips values of other types.
func (l *modelList) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &l.Data) == nil {
		return nil
	}
	type object modelList
	return wire.Decode(data, (*object)(l))
}

// fetchModels asks for the list of models.
func (o *Model) fetchModels(ctx context.Context) ([]servedModel, error) {
	address := cmp.Or(o.cfg.ModelsURL, o.base+"models")
	res, err := o.client.Send(ctx, http.MethodGet, address, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return nil, err
	}
	var list modelList
	err = wire.ReadJSON(res, &list)
	return list.Data, err
}
