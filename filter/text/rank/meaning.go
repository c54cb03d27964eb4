package rank

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Embedder turns texts into vectors, one for each text in order.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// MaxFailures is the number of failures in a row after which a session asks an embedder no more.
const MaxFailures = 3

// BatchSize is the number of texts per request.
const BatchSize = 32

// Embed embeds texts, some per request. It calls done with the vectors of the texts from an index on,
// so that they are of use even if a later request fails.
func Embed(ctx context.Context, e Embedder, texts []string, done func(from int, vectors [][]float32) error) error {
	for from := 0; from < len(texts); from += BatchSize {
		batch := texts[from:min(from+BatchSize, len(texts))]
		vectors, err := e.Embed(ctx, batch)
		if err == nil && len(vectors) != len(batch) {
			err = fmt.Errorf("got %s for %s", quantity.Count(len(vectors), "vector"), quantity.Count(len(batch), "text"))
		}
		if err == nil {
			err = done(from, vectors)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Cosine returns the cosine similarity of two embeddings, from -1 to 1, or 0 if they
// cannot be compared: different lengths, or a vector without a direction.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	c := dot / math.Sqrt(aa*bb)
	if math.IsNaN(c) || math.IsInf(c, 0) {
		return 0
	}
	return c
}

const (
	// deviations is how far above the mean the similarity of a hit must be, in standard
	// deviations. The similarities themselves differ from model to model.
	deviations = 3
	// meaningShare is the most that an embedding adds to a score.
	meaningShare = 0.4
)

// Raise raises the scores of the documents whose embeddings are unusually similar to the query's.
// The similarities are those of the documents; NaN means that a document has no embedding.
func Raise(scores, similarities []float64) {
	known := slices.DeleteFunc(slices.Clone(similarities), math.IsNaN)
	if len(known) < 2 {
		return
	}
	mean, deviation := spread(known)
	best, n := slices.Max(known), float64(len(known))
	least := mean + deviation*min(deviations, 0.8*(n-1)/math.Sqrt(n)) // no value of n is further from the mean than (n-1)/sqrt(n)
	for i, s := range similarities {
		if s > mean && s >= least {
			scores[i] += meaningShare * (s - mean) / (best - mean)
		}
	}
}

// spread returns the mean and the standard deviation.
func spread(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}
