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
)

// Embedder returns the embedder of the configured model, or nil. It sends the first 8 KiB of each text.
func (g *Model) Embedder() llm.Embedder {
	if g.cfg.Embedding == "" {
		return nil
	}
	missing := fmt.Sprintf("check embedding_model %q and base_url", g.cfg.Embedding)
	e := wire.Embedder{Endpoint: &g.endpoint, Model: g.cfg.Embedding, Prefix: g.cfg.EmbeddingPrefix, BatchSize: maxEmbedTexts, Missing: missing, Request: g.embed}
	if g.cfg.Vertex {
		e.BatchSize, e.Request = 1, g.embedAtVertex // the newer models accept one text
	}
	return e
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
		body.Requests = append(body.Requests, embedRequest{Model: name, Content: *textContent(wire.Embeddable(text))})
	}
	var got struct {
		Embeddings []vector `json:"embeddings"`
	}
	if err := g.ask(ctx, name+":batchEmbedContents", body, &got); err != nil {
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

// vector is the vector of one text.
type vector struct {
	Values []float32 `json:"values"`
}

// embedAtVertex requests the vector of one text. Vertex AI has the newest models at another method.
//
//	https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
//	https://docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-multimodal-embeddings
func (g *Model) embedAtVertex(ctx context.Context, texts []string) ([][]float32, error) {
	name, text := models.ID(g.cfg.Embedding), wire.Embeddable(texts[0])
	if strings.HasPrefix(name, "gemini-") && name != "gemini-embedding-001" {
		var got struct {
			Embedding vector `json:"embedding"`
		}
		err := g.ask(ctx, "models/"+name+":embedContent", map[string]any{"content": textContent(text)}, &got)
		return [][]float32{got.Embedding.Values}, err
	}
	var got struct {
		Predictions []struct {
			Embeddings vector `json:"embeddings"`
		} `json:"predictions"`
	}
	err := g.ask(ctx, "models/"+name+":predict", map[string]any{"instances": []any{map[string]string{"content": text}}}, &got)
	var vectors [][]float32
	for _, p := range got.Predictions {
		vectors = append(vectors, p.Embeddings.Values)
	}
	return vectors, err
}

// ask sends one request with a JSON answer.
func (g *Model) ask(ctx context.Context, path string, body, out any) error {
	res, err := g.send(ctx, http.MethodPost, path, wire.Body{plainjson.MustMarshal(body)})
	if err != nil {
		return err
	}
	return wire.ReadJSON(res, out)
}
