package gemini

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	// maxEmbedTexts bounds the texts of a request; the API accepts 100.
	maxEmbedTexts = 32
	// maxEmbedBytes bounds the part of a text that is sent. The API cuts off what is more than 2,048 tokens.
	maxEmbedBytes = 8 << 10
)

// Embedder returns the embedder of the configured model, or nil. It sends the first 8 KiB of a text.
func (g *Model) Embedder() llm.Embedder {
	if g.cfg.Embedding == "" {
		return nil
	}
	missing := fmt.Sprintf("check embedding_model %q and base_url", g.cfg.Embedding)
	return wire.Embedder{Endpoint: &g.endpoint, Model: g.cfg.Embedding, Prefix: g.cfg.EmbeddingPrefix, BatchSize: maxEmbedTexts, Missing: missing, Request: g.embed}
}

// embedRequest asks for the vector of one text.
// https://ai.google.dev/api/embeddings
type embedRequest struct {
	Model   string  `json:"model"`
	Content content `json:"content"`
}

// embed sends one request.
func (g *Model) embed(ctx context.Context, texts []string) ([][]float32, error) {
	name := "models/" + models.ID(g.cfg.Embedding)
	var body struct {
		Requests []embedRequest `json:"requests"`
	}
	for _, text := range texts {
		body.Requests = append(body.Requests, embedRequest{Model: name, Content: *textContent(embeddable(text))})
	}
	res, err := g.send(ctx, http.MethodPost, name+":batchEmbedContents", wire.Body{plainjson.MustMarshal(body)})
	if err != nil {
		return nil, err
	}
	var got struct {
		Embeddings []struct {
			Values []float32 `json:"values"`
		} `json:"embeddings"`
	}
	if err := wire.ReadJSON(res, &got); err != nil {
		return nil, err
	}
	if len(got.Embeddings) != len(texts) {
		return nil, fmt.Errorf("it sent %s for %s", quantity.Count(len(got.Embeddings), "vector"), quantity.Count(len(texts), "text"))
	}
	vectors := make([][]float32, len(texts))
	for i, e := range got.Embeddings {
		vectors[i] = e.Values
	}
	return vectors, nil
}

// embeddable returns the part of a text to send. An empty one would be refused.
func embeddable(text string) string {
	if len(text) > maxEmbedBytes {
		text = text[:maxEmbedBytes]
	}
	if text = strings.ToValidUTF8(text, ""); text == "" {
		return " "
	}
	return text
}
