package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Embedder is the embedder of an endpoint. Its adapter sends the requests.
type Embedder struct {
	Endpoint  *Endpoint
	BatchSize int    // texts of a request; 0 means that any number fits
	Missing   string // the hint where the server does not have the model

	// Request sends one request for the vectors of the texts, in their order.
	Request func(ctx context.Context, texts []string) ([][]float32, error)
}

// Embed implements llm.Embedder.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := e.Endpoint.Ready(); err != nil {
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
