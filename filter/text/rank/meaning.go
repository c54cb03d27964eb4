package rank

import (
	"cmp"
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

// fusedRanks is the rank at which a document gets half of the points of the first one.
const fusedRanks = 6

// Fuse combines two rankings of the same documents: by the words of a query, and by the similarity of embeddings, which is
// NaN for a document without one. share is the words' part. Only ranks count, since the scales of similarities differ from model to
// model (Cormack and others, "Reciprocal Rank Fusion", 2009). The result is from 0 to 1; a document of score 0 gets nothing for its words.
func Fuse(scores, similarities []float64, share float64) []float64 {
	fused := make([]float64, len(scores))
	for i, rank := range ranksOf(scores) {
		if scores[i] > 0 {
			fused[i] += share * fusedRanks / (fusedRanks + rank)
		}
	}
	for i, rank := range ranksOf(similarities) {
		if !math.IsNaN(similarities[i]) {
			fused[i] += (1 - share) * fusedRanks / (fusedRanks + rank)
		}
	}
	return fused
}

// ranksOf returns the rank of each value from 0, the largest first. Equal values share a rank.
func ranksOf(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) }) // NaN last
	ranks := make([]float64, len(values))
	for place, i := range order {
		ranks[i] = float64(place)
		if place > 0 && values[order[place-1]] == values[i] {
			ranks[i] = ranks[order[place-1]]
		}
	}
	return ranks
}

// Near reports which documents are so similar that they may be meant: above the mean by at least a share of the distance
// of the most similar one. Similarities are as for Fuse.
func Near(similarities []float64, share float64) []bool {
	near := make([]bool, len(similarities))
	known := slices.DeleteFunc(slices.Clone(similarities), math.IsNaN)
	if len(known) < 2 {
		return near
	}
	best, mean := slices.Max(known), 0.0
	for _, s := range known {
		mean += s / float64(len(known))
	}
	for i, s := range similarities {
		near[i] = s > mean && s-mean >= share*(best-mean)
	}
	return near
}
