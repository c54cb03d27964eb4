package openai

import (
	"encoding/json"
	"slices"

	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
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
		c.ThinkingBudget, c.ThinkingLevel = models.Of(o.endpoint.Model).Thinking(level)
	}
	return &b
}

// unsigned replaces the extra content of a call that another model made.
const unsigned = `{"google":{"thought_signature":"` + models.SkipSignature + `"}}`

// addSignature marks calls of other models, so that Gemini accepts them.
func (o *Model) addSignature(calls []chatCall) {
	if o.cfg.Type != ServerGemini || !models.Of(o.endpoint.Model).RequiresSignature() {
		return
	}
	if !slices.ContainsFunc(calls, func(c chatCall) bool { return c.ExtraContent != nil }) {
		calls[0].ExtraContent = json.RawMessage(unsigned)
	}
}
