package llm

import (
	"context"
)

// Embedder turns texts into vectors whose directions tell how near the texts are
// in meaning. It may be used concurrently.
type Embedder interface {
	// Embed gives one vector for each text, in their order; all have the same
	// length, but not length 1 for certain. A text that is too long is cut, here or
	// by the provider. A failure is an *Error, or the cause of ctx's end.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbedderOf gives what embeds at the model's provider; false if no
// embedding_model is configured for it, or its type has none.
func EmbedderOf(m Model) (Embedder, bool) {
	p, ok := As[interface{ Embedder() Embedder }](m)
	if !ok {
		return nil, false
	}
	e := p.Embedder()
	return e, e != nil
}
