package anthropic

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// DefaultModel is the model of a provider without a configured one.
const DefaultModel = "claude-sonnet-5-5"

// thinking is the form in which a request turns thinking on or off.
type thinking uint8

const (
	thinkBudget  thinking = iota // on: type enabled with a budget; off: no member thinking
	thinkAsked                   // on: type adaptive; off: no member thinking
	thinkDefault                 // on: type adaptive; off: type disabled
	thinkUpFront                 // on: type adaptive; off: type between_tools, since disabled is refused
	thinkAlways                  // on: type adaptive; cannot be turned off
)

// The levels of a model that thinks, from least to most. Models with adaptive thinking have the
// API's efforts, others have budgets. Each model refuses the efforts that it doesn't have.
// https://platform.claude.com/docs/en/build-with-claude/effort
var (
	budgetLevels = []string{"low", "medium", "high"}
	maxLevels    = []string{"low", "medium", "high", "max"}
	allLevels    = []string{"low", "medium", "high", "xhigh", "max"}
)

// thinkBudgets are the budgets of the levels, in tokens.
var thinkBudgets = map[string]int{"low": 4_000, "medium": 12_000, "high": 24_000}

// minThinkBudget is the smallest budget that the API accepts.
const minThinkBudget = 1_024

// modelFacts are the properties of a model that shape a request, from
// https://platform.claude.com/docs/en/about-claude/models/overview
type modelFacts struct {
	prefix string
	window int // tokens
	output int // longest answer, in tokens
	thinks thinking
	levels []string // besides off; nil if unknown
}

// knownModels are searched from the top; the first matching prefix counts.
var knownModels = []modelFacts{
	{"claude-haiku-4-5", 200_000, 64_000, thinkBudget, budgetLevels},
	{"claude-sonnet-4-5", 200_000, 64_000, thinkBudget, budgetLevels},
	{"claude-opus-4-5", 200_000, 64_000, thinkBudget, budgetLevels},
	{"claude-sonnet-4-6", 1_000_000, 128_000, thinkAsked, maxLevels},
	{"claude-opus-4-6", 1_000_000, 128_000, thinkAsked, maxLevels},
	{"claude-opus-4-7", 1_000_000, 128_000, thinkAsked, allLevels},
	{"claude-opus-4-8", 1_000_000, 128_000, thinkAsked, allLevels},
	{"claude-sonnet-4", 200_000, 64_000, thinkBudget, nil},
	{"claude-opus-4", 200_000, 32_000, thinkBudget, nil},
	{"claude-haiku-5-5", 1_000_000, 128_000, thinkDefault, allLevels},
	{"claude-haiku-5", 1_000_000, 128_000, thinkDefault, nil},
	{"claude-sonnet-5-5", 1_000_000, 128_000, thinkUpFront, allLevels},
	{"claude-sonnet-5", 1_000_000, 128_000, thinkDefault, allLevels},
	{"claude-opus-5-5", 1_000_000, 128_000, thinkAlways, allLevels},
	{"claude-opus-5", 1_000_000, 128_000, thinkDefault, allLevels},
	{"claude-fable-5-1", 1_000_000, 128_000, thinkAlways, allLevels},
	{"claude-fable-5", 1_000_000, 128_000, thinkAlways, allLevels},
	{"claude-mythos-5-1", 1_000_000, 128_000, thinkAlways, allLevels},
	{"claude-mythos-5", 1_000_000, 128_000, thinkAlways, allLevels},
	{"claude-mythos", 200_000, 64_000, thinkAlways, nil},
	{"claude-3", 200_000, 4_096, thinkBudget, nil},
	{"", 200_000, 64_000, thinkBudget, nil}, // anything else that speaks the same protocol
}

// snapshot matches the date after the name of a pinned model, as Anthropic and Google write it.
var snapshot = lazyregexp.New(`^([-@]20[0-9]{6}|@default)$`)

// factsOf returns the known properties of a model. A model whose name only begins like a
// known one has no levels, since they would be a guess.
func factsOf(name string) modelFacts {
	for _, m := range knownModels {
		rest, ok := strings.CutPrefix(name, m.prefix)
		if !ok {
			continue
		}
		if rest != "" && !snapshot.MatchString(rest) {
			m.levels = nil
		}
		return m
	}
	return modelFacts{}
}

// selectableLevels returns the levels to choose from, off included.
func (m modelFacts) selectableLevels() []string {
	if m.levels == nil || m.thinks == thinkAlways {
		return slices.Clone(m.levels)
	}
	return append([]string{llm.ThoughtOff}, m.levels...)
}

// Line is a model of the current generation, for people.
type Line struct{ Model, Title, About string }

// Current is the current generation that every key can use; the model for most work
// comes first.
var Current = []Line{
	{DefaultModel, "Claude Sonnet 5.5", "Fast and capable: for most work"},
	{"claude-opus-5-5", "Claude Opus 5.5", "More capable: for long and difficult tasks"},
	{"claude-fable-5-1", "Claude Fable 5.1", "Most capable, slowest: for the hardest problems"},
	{"claude-haiku-5-5", "Claude Haiku 5.5", "Fastest and cheapest: for simple tasks"},
}

// WindowOf returns the context window of a Claude, in tokens.
func WindowOf(model string) int { return factsOf(model).window }
