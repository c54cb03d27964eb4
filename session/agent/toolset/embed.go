package toolset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

const (
	// embedTimeout bounds what embedding adds to a turn.
	embedTimeout = 2 * time.Second
	// embedBatch is how many tools are embedded by one request: what one gave is
	// there for the next prompt, even if there was no time for all.
	embedBatch = 32
	// maxFailures is after how many failures in a row a session asks a provider
	// for no more embeddings.
	maxFailures = 3
	// maxEmbedded bounds what is sent of a prompt, in bytes.
	maxEmbedded = 4 << 10
	// maxVectors bounds how many vectors are kept of one model.
	maxVectors = 4096
)

// Vectors keeps the vectors of tools by model. The zero value is empty; sessions
// may share it.
type Vectors struct {
	mu      sync.Mutex
	byModel map[string]map[[sha256.Size]byte][]float32
}

// rank returns how near each tool is to the prompt, NaN where it could not be
// embedded, and how many could. The error is that of the prompt itself.
func (v *Vectors) rank(ctx context.Context, model string, e llm.Embedder, prompt string, all []llm.Tool, rest []int) (scores []float64, known int, err error) {
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	query, err := embed(ctx, e, []string{strings.ToValidUTF8(prompt[:min(len(prompt), maxEmbedded)], "")})
	if err != nil {
		return nil, 0, err
	}
	vectors := v.of(ctx, model, e, all, rest)
	scores = make([]float64, len(rest))
	for i, vector := range vectors {
		if scores[i] = math.NaN(); vector != nil {
			scores[i] = cosine(query[0], vector)
			known++
		}
	}
	if known == 0 {
		return nil, 0, errors.New("no tool could be embedded")
	}
	return scores, known, nil
}

// of returns the vectors of the tools, nil where there is none.
func (v *Vectors) of(ctx context.Context, model string, e llm.Embedder, all []llm.Tool, rest []int) [][]float32 {
	out := make([][]float32, len(rest))
	keys := make([][sha256.Size]byte, len(rest))
	texts := make([]string, len(rest))
	var missing []int // of rest
	v.mu.Lock()
	for i, tool := range rest {
		texts[i] = embedded(all[tool])
		keys[i] = sha256.Sum256([]byte(texts[i]))
		if out[i] = v.byModel[model][keys[i]]; out[i] == nil {
			missing = append(missing, i)
		}
	}
	v.mu.Unlock()
	for len(missing) > 0 {
		batch := missing[:min(len(missing), embedBatch)]
		missing = missing[len(batch):]
		var ask []string
		for _, i := range batch {
			ask = append(ask, texts[i])
		}
		vectors, err := embed(ctx, e, ask)
		if err != nil {
			break
		}
		v.mu.Lock()
		for j, i := range batch {
			out[i] = vectors[j]
			v.keep(model, keys[i], vectors[j])
		}
		v.mu.Unlock()
	}
	return out
}

// keep is called with mu held.
func (v *Vectors) keep(model string, key [sha256.Size]byte, vector []float32) {
	if v.byModel == nil {
		v.byModel = map[string]map[[sha256.Size]byte][]float32{}
	}
	if v.byModel[model] == nil || len(v.byModel[model]) >= maxVectors {
		v.byModel[model] = map[[sha256.Size]byte][]float32{}
	}
	v.byModel[model][key] = vector
}

// embedded is the text that stands for a tool.
func embedded(t llm.Tool) string {
	return t.Name + ": " + t.Description + "\nParameters: " + strings.Join(parameters(t), ", ")
}

func embed(ctx context.Context, e llm.Embedder, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors, err
}

// cosine is 0 for vectors that cannot be compared.
func cosine(a, b []float32) float64 {
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
