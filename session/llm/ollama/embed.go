package ollama

import (
	"context"
	"net/http"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// embedRequest asks for the vectors of texts, and embedResponse has them in order.
// https://docs.ollama.com/api/embed
type embedRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type embedResponse struct {
	Embeddings [][]float32 `json:"embeddings"`
}

// Embedder returns the embedder of the configured model, or nil. One request has all
// texts.
func (o *Model) Embedder() llm.Embedder {
	if o.cfg.Embedding == "" {
		return nil
	}
	return wire.Embedder{Endpoint: &o.endpoint, Model: o.cfg.Embedding, Prefix: o.cfg.EmbeddingPrefix, Missing: "run: ollama pull " + o.cfg.Embedding, Request: o.embed}
}

// embed sends one request.
func (o *Model) embed(ctx context.Context, texts []string) ([][]float32, error) {
	var got embedResponse
	err := o.call(ctx, http.MethodPost, "api/embed", embedRequest{o.cfg.Embedding, texts}, &got)
	return got.Embeddings, err
}
