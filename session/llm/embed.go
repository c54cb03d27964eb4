package llm

import (
	"context"
)

// Embedder turns texts into vectors. Texts of similar meaning have similar directions.
// It may be used concurrently.
type Embedder interface {
	// Name identifies the vectors. Only vectors of one name can be compared.
	Name() string
	// Embed returns one vector for each text, in order. All have the same length, which
	// need not be 1 in norm. A text that is too long is truncated, here or by the
	// provider. A failure is an *Error, or the cause of ctx's end.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbedderOf returns the embedder of the model's provider. It is false if no
// embedding_model is configured, or if the provider's type has no embeddings.
func EmbedderOf(m Model) (Embedder, bool) {
	p, ok := As[interface{ Embedder() Embedder }](m)
	if !ok {
		return nil, false
	}
	e := p.Embedder()
	return e, e != nil
}
