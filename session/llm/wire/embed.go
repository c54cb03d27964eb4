package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Embedder is the embedder of an endpoint. Its adapter sends the requests.
type Embedder struct {
	Endpoint  *Endpoint
	Model     string // for embeddings
	Prefix    string // before each text; see EmbeddingPrefix
	BatchSize int    // texts of a request; 0 means that any number fits
	Missing   string // the hint where the server does not have the model

	// Request sends one request for the vectors of the texts, in their order.
	Request func(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbeddingPrefix returns the words that a model was trained to find before each text, by its name. E5 has one for queries and one for
// passages. Texts that are compared here are of one kind, short, so both get the first one, as its authors advise.
// https://huggingface.co/intfloat/multilingual-e5-small
func EmbeddingPrefix(model string) string {
	if model = strings.ToLower(model); isE5.MatchString(model) && !strings.Contains(model, "instruct") {
		return "query: "
	}
	return ""
}

var isE5 = lazyregexp.New(`(^|[^a-z0-9])e5-(small|base|large)`)

// Name returns the provider, the model for embeddings, and the prefix.
func (e Embedder) Name() string {
	return strings.TrimSpace(e.Endpoint.Provider + ":" + e.Model + " " + e.Prefix)
}

// Embed implements llm.Embedder.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := e.Endpoint.Ready(); err != nil {
		return nil, err
	}
	if err := e.Endpoint.FetchKey(ctx); err != nil {
		return nil, err
	}
	vectors, err := e.all(ctx, texts)
	if err = e.Endpoint.Outcome(ctx, err); err != nil {
		if f, ok := errors.AsType[*llm.Error](err); ok && f.Status == http.StatusNotFound {
			f.Hint = e.Missing // another model than the one that answers
		}
		return nil, err
	}
	return vectors, nil
}

// all sends as many requests as the texts need.
func (e Embedder) all(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	if e.Prefix != "" {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i] = e.Prefix + texts[i]
		}
	}
	for batch := range slices.Chunk(texts, cmp.Or(e.BatchSize, len(texts))) {
		got, err := e.Request(ctx, batch)
		if err != nil {
			return nil, err
		}
		if len(got) != len(batch) {
			return nil, fmt.Errorf("it sent %s for %s", quantity.Count(len(got), "vector"), quantity.Count(len(batch), "text"))
		}
		vectors = append(vectors, got...)
	}
	return vectors, sameLength(vectors)
}

// sameLength returns an error unless all vectors have the same length, across
// requests too.
func sameLength(vectors [][]float32) error {
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return fmt.Errorf("it sent vectors of %d and %s", len(vectors[0]), quantity.Count(len(v), "number"))
		}
	}
	return nil
}

// maxEmbedBytes bounds each entry of a request: OpenAI refuses more than 8,192 tokens, and no token is shorter than a
// byte. Gemini cuts off what is more than 2,048 tokens.
const maxEmbedBytes = 8 << 10

// Embeddable returns the part of text that remote providers accept. They would refuse an empty string.
func Embeddable(text string) string {
	if len(text) > maxEmbedBytes {
		text = text[:maxEmbedBytes]
	}
	if text = strings.ToValidUTF8(text, ""); text == "" {
		return " "
	}
	return text
}
