package ollama

import (
	"context"
	"errors"
	"net/http"

	"github.com/ollama/ollama/api"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Embedder returns the embedder of the configured model, or nil.
func (o *Model) Embedder() llm.Embedder {
	if o.cfg.Embedding == "" {
		return nil
	}
	return embedder{o}
}

type embedder struct{ o *Model }

// Embed asks for all vectors at once.
// https://docs.ollama.com/api/embed
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := e.o.Ready(); err != nil {
		return nil, err
	}
	var got api.EmbedResponse
	err := e.o.call(ctx, http.MethodPost, "api/embed", api.EmbedRequest{Model: e.o.cfg.Embedding, Input: texts}, &got)
	if err == nil {
		err = wire.CheckVectors(got.Embeddings, len(texts))
	}
	if err != nil {
		err = e.o.reply(ctx, err)
		if f, ok := errors.AsType[*llm.Error](err); ok && f.Status == http.StatusNotFound {
			f.Hint = "run: ollama pull " + e.o.cfg.Embedding
		}
		return nil, err
	}
	return got.Embeddings, nil
}
