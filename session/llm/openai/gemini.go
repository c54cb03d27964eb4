package openai

import (
	"encoding/json"
	"slices"
	"strings"
)

// geminiBody is Google's addition to Chat Completions.
// https://ai.google.dev/gemini-api/docs/openai
type geminiBody struct {
	Google struct {
		ThinkingConfig thinkingConfig `json:"thinking_config"`
	} `json:"google"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"include_thoughts"`
	ThinkingLevel   string `json:"thinking_level,omitempty"`
	ThinkingBudget  *int   `json:"thinking_budget,omitempty"`
}

// geminiBudgets are the budgets of levels for models before the third generation, in
// tokens, as Google maps OpenAI's efforts.
var geminiBudgets = map[string]int{"none": 0, "low": 1_024, "medium": 8_192, "high": 24_576}

// thinkingConfig asks for summaries of the thoughts and for a level that the model has.
// It is nil for a model that does not think, which would refuse it. The level is in
// here because an effort next to it is refused.
func (o *Model) thinkingConfig(level string) *geminiBody {
	if o.facts.noThoughts || o.facts.prefix == "" {
		return nil
	}
	var b geminiBody
	c := &b.Google.ThinkingConfig
	c.IncludeThoughts = level != "none"
	if slices.Contains(o.facts.levels, level) {
		if budget, ok := geminiBudgets[level]; ok && strings.HasPrefix(o.facts.prefix, "gemini-2") {
			c.ThinkingBudget = &budget
		} else {
			c.ThinkingLevel = level
		}
	}
	return &b
}

// unsigned replaces the signature of a call that another model made: from the third
// generation on, the first call of an answer must have one.
// https://ai.google.dev/gemini-api/docs/thought-signatures
const unsigned = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// addSignature marks calls of other models, so that Gemini accepts them.
func (o *Model) addSignature(calls []chatCall) {
	if o.cfg.Type != ServerGemini || strings.HasPrefix(o.facts.prefix, "gemini-2") {
		return
	}
	if !slices.ContainsFunc(calls, func(c chatCall) bool { return c.ExtraContent != nil }) {
		calls[0].ExtraContent = json.RawMessage(unsigned)
	}
}
