package toolset

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Reason is the reason that the model is offered a tool.
type Reason string

// The reasons. The first one that applies counts.
const (
	AlwaysOn         Reason = "AlwaysOn"
	NameMentioned    Reason = "NameMentioned"    // its name is in the prompt
	ShortDescription Reason = "ShortDescription" // its description is too short to show whether it fits
	AlreadyUsed      Reason = "AlreadyUsed"      // in the conversation that the model sees, or in this turn
	SimilarityRank   Reason = "SimilarityRank"   // it is among the top_k that fit the prompt
	Found            Reason = "Found"            // tool_search found it
	NoEmbedding      Reason = "NoEmbedding"      // it could not be embedded, so its fit is unknown
	DependencyMet    Reason = "DependencyMet"    // the tools that it requires have completed
	Kept             Reason = "Kept"             // the previous turn's tools contain all tools for this one
	Unfiltered       Reason = "Unfiltered"       // all tools are offered
)

// maxPrompt limits the part of a prompt that is examined, in bytes.
const maxPrompt = 32 << 10

// pick applies the filter. The dependencies of the picked tools are checked
// later. It returns false if the filter would have to score tools and has no
// embeddings for that: words alone never leave out a tool.
func (s *Set) pick(ctx context.Context, t *turn, m llm.Model, prompt string, used map[string]bool) bool {
	t.picked = make(map[string]Reason, len(t.all))
	cfg := s.cfg.Filter
	if cfg.Enabled != On || llm.CallsInText(m) || strings.TrimSpace(prompt) == "" {
		t.pickAll()
		return true
	}
	var rest []int // indexes in all
	for i, tool := range t.all {
		switch {
		case s.alwaysOn[tool.Name]:
			t.picked[tool.Name] = AlwaysOn
		case t.mentioned[tool.Name]:
			t.picked[tool.Name] = NameMentioned
		case len(strings.Fields(executors.WithoutServerMark(tool.Description))) < cfg.MinDescriptionWords:
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
			t.pickAll()
			return false
		}
		top = s.topScored(t, rest, scores)
		t.filtered = true
	}
	for _, i := range top {
		t.picked[t.all[i].Name] = SimilarityRank
	}
	return true
}

// pickAll picks all tools, unfiltered.
func (t *turn) pickAll() {
	for _, tool := range t.all {
		t.picked[tool.Name] = Unfiltered
	}
}

// wordsShare is the part of a tool's score that the words of a prompt have; its embedding has the rest. Words alone, and embeddings
// alone, put fewer tools first.
const wordsShare = 0.75

// rank scores the tools with these indexes from 0 to 1; NaN means that a tool has no vector. It returns false without
// embeddings.
func (s *Set) rank(ctx context.Context, t *turn, m llm.Model, prompt string, rest []int) ([]float64, bool) {
	e, ok := llm.EmbedderOf(m)
	if !ok || s.failures[m.Name()] >= rank.MaxFailures {
		return nil, false
	}
	similarities, known, err := s.vectors.rank(ctx, e, prompt, t.all, rest)
	if err != nil {
		s.failures[m.Name()]++
		s.log.Debug("tool_filter scores no tool, since embedding failed", "model", m.Name(), "err", err)
		return nil, false
	}
	s.failures[m.Name()], t.embedded = 0, known
	words := s.filtered.score(prompt, t.all)
	ours := make([]float64, len(rest))
	for i, tool := range rest {
		ours[i] = words[tool]
	}
	scores := rank.Fuse(ours, similarities, wordsShare)
	for i := range scores {
		if math.IsNaN(similarities[i]) {
			scores[i] = math.NaN()
		}
	}
	return scores, true
}

// topScored returns the top_k of the tools, and all without a score.
func (s *Set) topScored(t *turn, rest []int, scores []float64) []int {
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

// mentions reports whether a text contains the name as a word, without letters,
// digits or underscores next to it. If the name has a server in front, as in
// github__create_issue, the rest is enough. Both must be in lower case.
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
