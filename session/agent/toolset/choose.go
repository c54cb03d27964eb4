package toolset

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Reason is why the model is offered a tool.
type Reason string

// The reasons. The first one that holds counts.
const (
	AlwaysOn         Reason = "AlwaysOn"
	NameMentioned    Reason = "NameMentioned"    // the prompt names it
	ShortDescription Reason = "ShortDescription" // too short to tell whether it fits
	AlreadyUsed      Reason = "AlreadyUsed"      // in the conversation that the model sees, or in this turn
	SimilarityRank   Reason = "SimilarityRank"   // it is among the top_k that fit the prompt
	NoEmbedding      Reason = "NoEmbedding"      // nobody knows whether it fits: it could not be embedded
	DependencyMet    Reason = "DependencyMet"    // what it requires has completed
	Kept             Reason = "Kept"             // the turn before had it, and all that this one needs
	Unfiltered       Reason = "Unfiltered"       // nothing was left out
)

// maxPrompt bounds how much of a prompt is looked at, in bytes.
const maxPrompt = 32 << 10

// pick lets the filter choose. Which of these have to wait is asked later.
func (s *Set) pick(ctx context.Context, t *turn, m llm.Model, prompt string, used map[string]bool) {
	t.picked = make(map[string]Reason, len(t.all))
	all := func() {
		for _, tool := range t.all {
			t.picked[tool.Name] = Unfiltered
		}
	}
	cfg := s.cfg.Filter
	if !cfg.Enabled || llm.CallsInText(m) || strings.TrimSpace(prompt) == "" {
		all()
		return
	}
	var rest []int // of all
	for i, tool := range t.all {
		switch {
		case s.alwaysOn[tool.Name]:
			t.picked[tool.Name] = AlwaysOn
		case t.mentioned[tool.Name]:
			t.picked[tool.Name] = NameMentioned
		case len(strings.Fields(tool.Description)) < cfg.MinDescriptionWords:
			t.picked[tool.Name] = ShortDescription
		case used[tool.Name]:
			t.picked[tool.Name] = AlreadyUsed
		default:
			rest = append(rest, i)
		}
	}
	top := rest
	if cfg.TopK > 0 && len(rest) > cfg.TopK {
		scores, ok := s.rank(ctx, t, m, prompt, rest)
		if !ok {
			all()
			return
		}
		top = s.best(t, rest, scores)
		t.filtered = true
	}
	for _, i := range top {
		t.picked[t.all[i].Name] = SimilarityRank
	}
}

// rank scores the tools of those indexes, from 0 to 1 or so; NaN means that one
// has no vector. False means that nothing tells which of them fit.
func (s *Set) rank(ctx context.Context, t *turn, m llm.Model, prompt string, rest []int) ([]float64, bool) {
	if e, ok := llm.EmbedderOf(m); ok && s.failures[m.Name()] < maxFailures {
		scores, known, err := s.vectors.rank(ctx, m.Name(), e, prompt, t.all, rest)
		if err == nil {
			s.failures[m.Name()], t.embedded = 0, known
			return scores, true
		}
		s.failures[m.Name()]++
		s.log.Debug("tool_filter goes by words: no embedding", "model", m.Name(), "err", err)
	}
	return s.words.rank(prompt, t.all, rest)
}

// best returns the top_k of the tools, and all that have no score.
func (s *Set) best(t *turn, rest []int, scores []float64) []int {
	type scored struct {
		tool  int
		score float64
	}
	s.mu.Lock()
	var all []scored
	for i, tool := range rest {
		name := t.all[tool].Name
		if math.IsNaN(scores[i]) {
			t.picked[name] = NoEmbedding
			continue
		}
		all = append(all, scored{tool, scores[i] + s.boost(name)})
	}
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var top []int
	for _, one := range all[:min(len(all), s.cfg.Filter.TopK)] {
		top = append(top, one.tool)
	}
	return top
}

// mentions reports whether a text has the name as a word: its neighbours are no
// letters, digits or underscores. Of a name with a server before it, such as
// github__create_issue, the rest is enough. Both are in lower case.
func mentions(text, name string) bool {
	if _, tool, ok := strings.Cut(name, "__"); ok && tool != "" && mentions(text, tool) {
		return true
	}
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = i + 1
	}
	return false
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
