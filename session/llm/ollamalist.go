package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
)

// List gives the models that the server has and that can chat, the newest first.
// https://docs.ollama.com/api/tags
func (o *Ollama) List(ctx context.Context) ([]Choice, error) {
	if err := o.Ready(); err != nil {
		return nil, err
	}
	models, err := o.tags(ctx)
	if err != nil {
		return nil, o.reply(ctx, err)
	}
	choices := []Choice{}
	for _, m := range models {
		choices = append(choices, Choice{
			Name:  o.cfg.Name + ":" + m.Name,
			Title: strings.TrimSuffix(m.Name, ":latest"), Description: aboutOllama(m), Open: true,
		})
	}
	return choices, nil
}

// FindOllama tells whether an Ollama with a model that can chat answers at
// OllamaDefault before ctx is done.
func FindOllama(ctx context.Context) bool {
	models, err := NewOllama(OllamaConfig{Address: OllamaDefault}).tags(ctx)
	return err == nil && len(models) > 0
}

// tags asks for the models that can chat.
func (o *Ollama) tags(ctx context.Context) ([]api.ListModelResponse, error) {
	var list api.ListResponse
	if err := o.call(ctx, http.MethodGet, "api/tags", nil, &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Models, func(m api.ListModelResponse) bool { return m.Name == "" || onlyEmbeds(m) }), nil
}

// onlyEmbeds tells of a model that cannot chat, as far as the list shows it.
func onlyEmbeds(m api.ListModelResponse) bool {
	return strings.Contains(strings.ToLower(m.Details.Family), "bert") || strings.Contains(strings.ToLower(m.Name), "embed")
}

// aboutOllama describes a model, for people.
func aboutOllama(m api.ListModelResponse) string {
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

// Embedder gives what embeds with the configured model; nil if there is none.
func (o *Ollama) Embedder() Embedder {
	if o.cfg.Embedding == "" {
		return nil
	}
	return ollamaEmbedder{o}
}

type ollamaEmbedder struct{ o *Ollama }

// Embed asks for all vectors at once.
// https://docs.ollama.com/api/embed
func (e ollamaEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := e.o.Ready(); err != nil {
		return nil, err
	}
	var got api.EmbedResponse
	err := e.o.call(ctx, http.MethodPost, "api/embed", api.EmbedRequest{Model: e.o.cfg.Embedding, Input: texts}, &got)
	if err == nil {
		err = checkVectors(got.Embeddings, len(texts))
	}
	if err != nil {
		err = e.o.reply(ctx, err)
		if f, ok := errors.AsType[*Error](err); ok && f.Status == http.StatusNotFound {
			f.Hint = "run: ollama pull " + e.o.cfg.Embedding
		}
		return nil, err
	}
	return got.Embeddings, nil
}

// checkVectors tells what is wrong with the vectors of n texts.
func checkVectors(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return fmt.Errorf("it sent %d vectors for %d texts", len(vectors), n)
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return fmt.Errorf("it sent vectors of %d and %d numbers", len(vectors[0]), len(v))
		}
	}
	return nil
}
