package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/vector"
)

const (
	// minWords is the least score by words of a hit: the share of the query, weighted by
	// how rare each word is.
	minWords = 0.4
	// unknownWeight is the weight of a word that no entry has: the query may be about
	// something that was never saved.
	unknownWeight = 3
	// beginWeight is the weight of a word that only begins with the query's word.
	beginWeight = 0.7
)

// byWords returns the score of each entry by the words of the query, from 0 to 1. It is 0
// if too few words match. Words are weighted by their rarity in these entries, so the
// entries of other projects have no influence.
func (m *Memory) byWords(ctx context.Context, query string, all []Entry) ([]float64, error) {
	scores := make([]float64, len(all))
	ts := terms(query)
	var expressions []string
	for _, t := range ts {
		expressions = append(expressions, t.exact)
		if t.begin != "" {
			expressions = append(expressions, t.begin)
		}
	}
	if len(expressions) == 0 {
		return scores, nil
	}
	matches, err := m.Store.MatchMemories(ctx, expressions, m.Project, "")
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, t := range ts {
		exact, begin := matches[0], map[int64]bool(nil)
		matches = matches[1:]
		if t.begin != "" {
			begin, matches = matches[0], matches[1:]
		}
		n := 0
		for _, e := range all {
			if exact[e.ID] || begin[e.ID] {
				n++
			}
		}
		weight := rarity(n, len(all))
		total += weight
		for i, e := range all {
			switch {
			case exact[e.ID]:
				scores[i] += weight
			case begin[e.ID]:
				scores[i] += weight * beginWeight
			}
		}
	}
	for i := range scores {
		scores[i] /= total
	}
	least := max(minWords, slices.Max(scores)*minRelativeScore)
	for i := range scores {
		if scores[i] < least {
			scores[i] = 0
		}
	}
	return scores, nil
}

// minRelativeScore is the share of the best score that a hit needs.
const minRelativeScore = 0.5

// rarity returns the weight of a word that n of all entries contain.
func rarity(n, all int) float64 {
	if n == 0 {
		return unknownWeight
	}
	return math.Log(1 + (float64(all-n)+0.5)/(float64(n)+0.5))
}

// wordCounts counts the entries that contain a word.
type wordCounts struct {
	entries     int
	entriesWith map[string]int // by stem
}

func newWordCounts(all []Entry) wordCounts {
	l := wordCounts{len(all), map[string]int{}}
	for _, e := range all {
		for w := range stems(e.Text) {
			l.entriesWith[w]++
		}
	}
	return l
}

// similarity returns the share of words that two texts have in common, weighted by their
// rarity, from 0 to 1.
func (l wordCounts) similarity(a, b string) float64 {
	wordsA, wordsB := stems(a), stems(b)
	common, totalA, totalB := 0.0, 0.0, 0.0
	for w := range wordsA {
		weight := rarity(l.entriesWith[w], l.entries)
		totalA += weight
		if wordsB[w] {
			common += weight
		}
	}
	for w := range wordsB {
		totalB += rarity(l.entriesWith[w], l.entries)
	}
	if totalA == 0 || totalB == 0 {
		return 0
	}
	return common / min(totalA, totalB)
}

const (
	// embedTimeout limits the time that embeddings add to a search.
	embedTimeout = 5 * time.Second
	// maxFailures is the number of failures in a row after which a session asks for no more
	// embeddings.
	maxFailures = 3
	// embedBatch is the number of texts per request.
	embedBatch = 32
	// deviations is how far above the mean the similarity of a hit must be, in standard
	// deviations. The similarities themselves differ from model to model.
	deviations = 3
	// meaningWeight is the most that an embedding adds to a score.
	meaningWeight = 0.4
)

// byMeaning raises the scores of the entries whose embeddings are unusually similar to the
// query's. It first computes missing embeddings. If that fails, the scores stay unchanged.
func (m *Memory) byMeaning(ctx context.Context, query string, all []Entry, read time.Time, scores []float64) {
	if m.Embedder == nil {
		return
	}
	model, embedder := m.Embedder()
	if embedder == nil || m.failures.Load() >= maxFailures {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	queried, err := embed(ctx, embedder, []string{query})
	if err == nil {
		err = m.vectors(ctx, model, embedder, all, read)
	}
	if err == nil {
		m.failures.Store(0)
	} else {
		m.failures.Add(1)
		m.log().Debug("the memory compares words, since embedding failed", "model", model, "err", err)
	}
	if len(queried) == 0 {
		return
	}
	var alike []float64
	for _, e := range all {
		if e.Model == model {
			alike = append(alike, vector.Cosine(queried[0], e.Vector))
		}
	}
	if len(alike) < 2 {
		return
	}
	mean, deviation := spread(alike)
	best, n := slices.Max(alike), float64(len(alike))
	least := mean + deviation*min(deviations, 0.8*(n-1)/math.Sqrt(n)) // no value of n is further from the mean than (n-1)/sqrt(n)
	for i, e := range all {
		if c := vector.Cosine(queried[0], e.Vector); e.Model == model && c > mean && c >= least {
			scores[i] += meaningWeight * (c - mean) / (best - mean)
		}
	}
}

// vectors embeds the entries that have no vector of this model, and stores the vectors.
func (m *Memory) vectors(ctx context.Context, model string, embedder Embedder, all []Entry, read time.Time) error {
	var missing []int
	for i, e := range all {
		if e.Model != model {
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, embedBatch) {
		var texts []string
		for _, i := range batch {
			texts = append(texts, all[i].Text)
		}
		vectors, err := embed(ctx, embedder, texts)
		if err != nil {
			return err
		}
		stored := map[int64][]float32{}
		for j, i := range batch {
			all[i].Model, all[i].Vector = model, vectors[j]
			stored[all[i].ID] = vectors[j]
		}
		if err := m.Store.PutVectors(ctx, model, stored, read); err != nil {
			return err
		}
	}
	return nil
}

// embed returns a vector for each text.
func embed(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("got %s for %s", quantity.Count(len(vectors), "vector"), quantity.Count(len(texts), "entry"))
	}
	return vectors, nil
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
