package openai

import (
	"context"
	"fmt"
	"net/http"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	// maxEmbedTexts bounds the texts of a request. Together with wire.Embeddable it
	// stays below OpenAI's limit of 300,000 tokens a request, and below Gemini's of
	// 100 texts.
	// https://developers.openai.com/api/reference/resources/embeddings
	maxEmbedTexts = 32
)

// Embedder returns the embedder of the configured model, or nil. It sends the
// first 8 KiB of a text.
func (o *Model) Embedder() llm.Embedder {
	if o.cfg.Embedding == "" {
		return nil
	}
	missing := fmt.Sprintf("check embedding_model %q and base_url", o.cfg.Embedding)
	return wire.Embedder{Endpoint: &o.endpoint, Model: o.cfg.Embedding, Prefix: o.cfg.EmbeddingPrefix, BatchSize: maxEmbedTexts, Missing: missing, Request: o.embed}
}

// embedRequest is a request for vectors.
// https://developers.openai.com/api/reference/resources/embeddings
type embedRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

// embed sends one request.
func (o *Model) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body := embedRequest{Model: o.cfg.Embedding}
	for _, text := range texts {
		body.Input = append(body.Input, wire.Embeddable(text))
	}
	res, err := o.send(ctx, http.MethodPost, "embeddings", plainjson.MustMarshal(body))
	if err != nil {
		return nil, err
	}
	var got embeddings
	if err := wire.ReadJSON(res, &got); err != nil {
		return nil, err
	}
	return got.vectors(len(texts))
}

// embeddings is the answer to one request.
type embeddings struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// vectors returns the vectors in the order of the n texts. Gemini omits an index of 0,
// and some servers omit all.
func (e embeddings) vectors(n int) ([][]float32, error) {
	if len(e.Data) != n {
		return nil, fmt.Errorf("it sent %s for %s", quantity.Count(len(e.Data), "vector"), quantity.Count(n, "text"))
	}
	indexed := false
	for _, d := range e.Data {
		indexed = indexed || d.Index != nil
	}
	out := make([][]float32, n)
	for at, d := range e.Data {
		switch {
		case d.Index != nil:
			at = *d.Index
		case indexed:
			at = 0
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, fmt.Errorf("its vectors have wrong indexes: %d is repeated, or not from 0 to %d", at, n-1)
		}
		out[at] = d.Embedding
	}
	return out, nil
}
