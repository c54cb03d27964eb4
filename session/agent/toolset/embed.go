package toolset

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

const (
	// embedTimeout limits the time that embedding adds to a turn.
	embedTimeout = 2 * time.Second
	// maxEmbedded limits the part of a prompt that is embedded, in bytes.
	maxEmbedded = 4 << 10
	// maxVectors limits the number of vectors kept for one model.
	maxVectors = 4096
)

// Vectors caches the vectors of tools by the name of their embedder. The zero value is empty;
// sessions may share it.
type Vectors struct {
	mu      sync.Mutex
	byModel map[string]map[[sha256.Size]byte][]float32
}

// rank returns the similarity of each tool to the prompt, or NaN if the tool could not be embedded,
// and the number of embedded tools. An error means that the prompt could not be embedded.
func (v *Vectors) rank(
	ctx context.Context, e llm.Embedder, prompt string, all []llm.Tool, rest []int,
) (scores []float64, known int, err error) {
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	var query []float32
	asked := strings.ToValidUTF8(prompt[:min(len(prompt), maxEmbedded)], "")
	if err := rank.Embed(ctx, e, []string{asked}, func(_ int, vectors [][]float32) error { query = vectors[0]; return nil }); err != nil {
		return nil, 0, err
	}
	vectors := v.vectorsOf(ctx, e, all, rest)
	scores = make([]float64, len(rest))
	for i, v := range vectors {
		if scores[i] = math.NaN(); v != nil {
			scores[i] = rank.Cosine(query, v)
			known++
		}
	}
	if known == 0 {
		return nil, 0, errors.New("no tool could be embedded")
	}
	return scores, known, nil
}

// vectorsOf returns the vectors of the tools, nil for a tool without one.
func (v *Vectors) vectorsOf(ctx context.Context, e llm.Embedder, all []llm.Tool, rest []int) [][]float32 {
	out := make([][]float32, len(rest))
	keys := make([][sha256.Size]byte, len(rest))
	texts := make([]string, len(rest))
	var missing []int // indexes in rest
	v.mu.Lock()
	for i, tool := range rest {
		texts[i] = embeddingText(all[tool])
		keys[i] = sha256.Sum256([]byte(texts[i]))
		if out[i] = v.byModel[e.Name()][keys[i]]; out[i] == nil {
			missing = append(missing, i)
		}
	}
	v.mu.Unlock()
	ask := make([]string, len(missing))
	for i, tool := range missing {
		ask[i] = texts[tool]
	}
	// A failure leaves the other tools without a vector.
	_ = rank.Embed(ctx, e, ask, func(from int, vectors [][]float32) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		for j, values := range vectors {
			i := missing[from+j]
			out[i] = values
			v.store(e.Name(), keys[i], values)
		}
		return nil
	})
	return out
}

// store caches a vector; the caller holds mu.
func (v *Vectors) store(model string, key [sha256.Size]byte, values []float32) {
	if v.byModel == nil {
		v.byModel = map[string]map[[sha256.Size]byte][]float32{}
	}
	if v.byModel[model] == nil || len(v.byModel[model]) >= maxVectors {
		v.byModel[model] = map[[sha256.Size]byte][]float32{}
	}
	v.byModel[model][key] = values
}

// embeddingText returns the text to embed for a tool.
func embeddingText(t llm.Tool) string {
	return t.Name + ": " + t.Description + "\nParameters: " + strings.Join(parameters(t), ", ")
}

// parameters returns the names of a tool's parameters, sorted.
func parameters(t llm.Tool) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Schema, &s) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}
