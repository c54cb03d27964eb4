package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/option"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	// maxEmbedTexts bounds the texts of a request. With maxEmbedBytes it
	// keeps to OpenAI's limit of 300,000 tokens a request, and to Gemini's of 100
	// texts.
	// https://developers.openai.com/api/reference/resources/embeddings
	maxEmbedTexts = 32
	// maxEmbedBytes bounds the part of a text that is sent: OpenAI refuses more than
	// 8,192 tokens, and no token is shorter than a byte.
	maxEmbedBytes = 8 << 10
)

// Embedder returns the embedder of the configured model, or nil.
func (o *Model) Embedder() llm.Embedder {
	if o.cfg.Embedding == "" {
		return nil
	}
	return embedder{o}
}

type embedder struct{ o *Model }

// Embed asks for vectors in batches. Text beyond 8 KiB is ignored.
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := e.o.Ready(); err != nil {
		return nil, err
	}
	all := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, maxEmbedTexts) {
		vectors, err := e.batch(ctx, batch)
		if err != nil {
			return nil, e.reply(ctx, err)
		}
		all = append(all, vectors...)
	}
	if err := wire.CheckVectors(all, len(texts)); err != nil { // across all requests
		return nil, e.reply(ctx, err)
	}
	return all, nil
}

// batch sends one request.
func (e embedder) batch(ctx context.Context, texts []string) ([][]float32, error) {
	body := struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{Model: e.o.cfg.Embedding}
	for _, text := range texts {
		body.Input = append(body.Input, embeddable(text))
	}
	raw, err := wire.Marshal(body)
	if err != nil {
		return nil, err
	}
	var res *http.Response
	err = e.o.client().Post(ctx, "embeddings", nil, &res, append(e.o.auth(), option.WithRequestBody("application/json", raw))...)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := wire.RefusePage(res); err != nil {
		return nil, err
	}
	var got embeddings
	if err := json.NewDecoder(io.LimitReader(res.Body, wire.MaxReply)).Decode(&got); err != nil {
		return nil, fmt.Errorf("reading its answer: %w", err)
	}
	return got.vectors(len(texts))
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
		return nil, fmt.Errorf("it sent %d vectors for %d texts", len(e.Data), n)
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
			return nil, fmt.Errorf("its vectors are numbered wrong: %d comes twice or is none of %d", at, n)
		}
		out[at] = d.Embedding
	}
	return out, nil
}

// reply returns a failure as an *llm.Error, or ctx's cause.
func (e embedder) reply(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = e.o.endpoint.Failure(err)
	if f, ok := errors.AsType[*llm.Error](err); ok && f.Status == http.StatusNotFound {
		f.Hint = fmt.Sprintf("check embedding_model %q and base_url", e.o.cfg.Embedding) // another model than the one that answers
	}
	return err
}
