package ollama

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// modelList is a server's list of models.
// https://docs.ollama.com/api/tags
type modelList struct {
	Models []servedModel `json:"models"`
}

type servedModel struct {
	Name       string       `json:"name"`
	RemoteHost string       `json:"remote_host"` // empty for a model that runs on the server
	Size       int64        `json:"size"`        // bytes
	Details    modelDetails `json:"details"`
}

type modelDetails struct {
	Family            string `json:"family"`
	ParameterSize     string `json:"parameter_size"`
	QuantizationLevel string `json:"quantization_level"`
}

// List returns the server's models that can chat, the newest first.
func (o *Model) List(ctx context.Context) ([]llm.Choice, error) {
	if err := o.Ready(); err != nil {
		return nil, err
	}
	models, err := o.fetchModels(ctx)
	if err != nil {
		return nil, o.endpoint.Outcome(ctx, err)
	}
	choices := []llm.Choice{}
	for _, m := range models {
		choices = append(choices, llm.Choice{
			Name:  o.cfg.Name + ":" + m.Name,
			Title: strings.TrimSuffix(m.Name, ":latest"), Description: describe(m), Open: true,
		})
	}
	return choices, nil
}

// Find reports whether an Ollama with a model that can chat answers at DefaultAddress
// before ctx is done.
func Find(ctx context.Context) bool {
	models, err := New(Config{Address: DefaultAddress}).fetchModels(ctx)
	return err == nil && len(models) > 0
}

// fetchModels returns the models that can chat.
func (o *Model) fetchModels(ctx context.Context) ([]servedModel, error) {
	var list modelList
	if err := o.call(ctx, http.MethodGet, "api/tags", nil, &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Models, func(m servedModel) bool { return m.Name == "" || onlyEmbeds(m) }), nil
}

// onlyEmbeds reports whether the list shows that a model cannot chat.
func onlyEmbeds(m servedModel) bool {
	return strings.Contains(strings.ToLower(m.Details.Family), "bert") || strings.Contains(strings.ToLower(m.Name), "embed")
}

// describe returns a description of a model, for people.
func describe(m servedModel) string {
	var facts []string
	for _, fact := range []string{m.Details.ParameterSize, m.Details.QuantizationLevel} {
		if fact != "" && fact != "unknown" {
			facts = append(facts, fact)
		}
	}
	switch {
	case m.RemoteHost != "":
		facts = append(facts, "runs at "+strings.TrimPrefix(strings.TrimPrefix(m.RemoteHost, "https://"), "http://"))
	case m.Size > 0:
		facts = append(facts, fmt.Sprintf("%.1f GB", float64(m.Size)/1e9))
	}
	if len(facts) == 0 {
		return "Model of Ollama"
	}
	return "Ollama: " + strings.Join(facts, ", ")
}
