package ollama

import (
	"context"
	"net/http"

	"github.com/ollama/ollama/api"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Embedder returns the embedder of the configured model, or nil. One request has all
// texts.
func (o *Model) Embedder() llm.Embedder {
	if o.cfg.Embedding == "" {
		return nil
	}
	return wire.Embedder{Endpoint: &o.endpoint, Missing: "run: ollama pull " + o.cfg.Embedding, Request: o.embed}
}

// embed sends one request.
// https://docs.ollama.com/api/embed
func (o *Model) embed(ctx context.Context, texts []string) ([][]float32, error) {
	var got api.EmbedResponse
	err := o.call(ctx, http.MethodPost, "api/embed", api.EmbedRequest{Model: o.cfg.Embedding, Input: texts}, &got)
	return got.Embeddings, err
}
