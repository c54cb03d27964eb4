package openai

import (
	"encoding/json"
	"slices"
	"strings"
)

// geminiBody is what Google adds to Chat Completions.
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

// geminiBudgets are what the levels are to models before the third generation, in
// tokens: those that Google gives OpenAI's efforts.
var geminiBudgets = map[string]int{"none": 0, "low": 1_024, "medium": 8_192, "high": 24_576}

// thinkingConfig asks for summaries of the thoughts, and for a level that the model
// has; nil for a model that doesn't think, which would refuse it. An effort beside
// it is refused too, so that the level has to be in here.
func (o *Model) thinkingConfig(level string) *geminiBody {
	if o.knows.plain || o.knows.prefix == "" {
		return nil
	}
	var b geminiBody
	c := &b.Google.ThinkingConfig
	c.IncludeThoughts = level != "none"
	if slices.Contains(o.knows.levels, level) {
		if budget, ok := geminiBudgets[level]; ok && strings.HasPrefix(o.knows.prefix, "gemini-2") {
			c.ThinkingBudget = &budget
		} else {
			c.ThinkingLevel = level
		}
	}
	return &b
}

// unsigned is what Google wants in place of the signature of a call that another
// model made: from the third generation on, the first call of an answer must have
// one.
// https://ai.google.dev/gemini-api/docs/thought-signatures
const unsigned = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// sign lets Gemini take calls that are not its own.
func (o *Model) sign(calls []chatCall) {
	if o.cfg.Type != ServerGemini || strings.HasPrefix(o.knows.prefix, "gemini-2") {
		return
	}
	if !slices.ContainsFunc(calls, func(c chatCall) bool { return c.ExtraContent != nil }) {
		calls[0].ExtraContent = json.RawMessage(unsigned)
	}
}
