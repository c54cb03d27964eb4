package memory

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/rank"
)

const (
	// minWords is the least score of a hit by words, and minShare its least share of the best score.
	minWords, minShare = 0.4, 0.5
	// wordsShare is the part of a score that words have; meaning has the rest. nearShare is how near to the most similar entry, from the mean
	// on, a hit without such a score by words must be.
	wordsShare, nearShare = 0.3, 0.4
	// embedTimeout is the default of EmbedTimeout.
	embedTimeout = 5 * time.Second
)

// newIndex returns the index of the words of entries. Other projects have no influence on how rare a word
// is.
func newIndex(all []Entry) *rank.Index {
	documents := make([][]rank.Text, len(all))
	for i, e := range all {
		documents[i] = []rank.Text{{Text: e.Text, Weight: 1}}
	}
	return rank.New(documents)
}

// similarities returns how similar the embedding of each entry is to the query's; NaN means that an entry has none. It first
// computes missing embeddings. Nil means that there are no embeddings.
func (m *Memory) similarities(ctx context.Context, query string, all []Entry, read time.Time) []float64 {
	if m.Embedder == nil {
		return nil
	}
	model, embedder := m.Embedder()
	if embedder == nil || m.failures.Load() >= rank.MaxFailures {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.EmbedTimeout, embedTimeout))
	defer cancel()
	var queried []float32
	err := rank.Embed(ctx, embedder, []string{query}, func(_ int, vectors [][]float32) error { queried = vectors[0]; return nil })
	if err == nil {
		err = m.vectors(ctx, model, embedder, all, read)
	}
	if err == nil {
		m.failures.Store(0)
	} else {
		m.failures.Add(1)
		m.log().Debug("the memory compares words, since embedding failed", "model", model, "err", err)
	}
	if queried == nil {
		return nil
	}
	similarities := make([]float64, len(all))
	for i, e := range all {
		if similarities[i] = math.NaN(); e.Model == model {
			similarities[i] = rank.Cosine(queried, e.Vector)
		}
	}
	return similarities
}

// vectors embeds the entries that have no vector of this model, and stores the vectors.
func (m *Memory) vectors(ctx context.Context, model string, embedder rank.Embedder, all []Entry, read time.Time) error {
	var missing []int
	var texts []string
	for i, e := range all {
		if e.Model != model {
			missing, texts = append(missing, i), append(texts, e.Text)
		}
	}
	return rank.Embed(ctx, embedder, texts, func(from int, vectors [][]float32) error {
		stored := map[int64][]float32{}
		for j, v := range vectors {
			e := &all[missing[from+j]]
			e.Model, e.Vector = model, v
			stored[e.ID] = v
		}
		return m.Store.PutVectors(ctx, model, stored, read)
	})
}
