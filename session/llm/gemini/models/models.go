// Package models has the facts about Google's models that both of its protocols need: Gemini's own and Chat Completions.
//
// Start with [Of].
package models

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Default is the model of a provider without a configured one.
const Default = "gemini-3.8-flash"

// Facts are the properties of a model that shape a request.
type Facts struct {
	Prefix     string   // of the model's name; empty for an unknown model
	Window     int      // in tokens; 0 means unknown
	Levels     []string // of thinking, from least to most; nil means unknown
	NoThoughts bool     // the model does not think
}

var (
	threeLevels   = []string{"low", "medium", "high"}
	flashLevels   = []string{"minimal", "low", "medium", "high"}
	budgetedFlash = []string{"none", "low", "medium", "high"}
)

// known is searched from the top; the first matching prefix counts. Models before the third generation have budgets
// instead of levels; see Thinking.
//
//	https://ai.google.dev/gemini-api/docs/models
//	https://ai.google.dev/gemini-api/docs/thinking
var known = []Facts{
	{"gemini-4-argon", 1_048_576, threeLevels, false},
	{"gemini-4", 1_048_576, nil, false},
	{"gemini-3.8-flash", 1_048_576, threeLevels, false},
	{"gemini-3.7-flash", 1_048_576, threeLevels, false},
	{"gemini-3.6-flash", 1_048_576, flashLevels, false},
	{"gemini-3.5-flash-lite", 1_048_576, flashLevels, false},
	{"gemini-3.5-flash", 1_048_576, flashLevels, false},
	{"gemini-3.1-flash-lite", 1_048_576, flashLevels, false},
	{"gemini-3.1-pro", 1_048_576, threeLevels, false},
	{"gemini-3-flash", 1_048_576, flashLevels, false},
	{"gemini-3-pro", 1_048_576, []string{"low", "high"}, false},
	{"gemini-3", 1_048_576, nil, false},
	{"gemini-2.5-pro", 1_048_576, threeLevels, false},
	{"gemini-2.5-flash", 1_048_576, budgetedFlash, false},
	{"gemini-2", 1_048_576, nil, true},
	{"gemma", 0, nil, true},
}

// pinned matches the rest of a known model's name that does not make it another model: a date or number of a version,
// or a word for a preview.
var pinned = lazyregexp.New(`^(-preview(-[0-9-]+)?|-latest|-[0-9]{3})?$`)

// Of returns the facts about a model. A model whose name only begins like a known one has no levels, since they would
// be a guess.
func Of(name string) Facts {
	name = ID(name)
	for _, m := range known {
		rest, ok := strings.CutPrefix(name, m.Prefix)
		if !ok {
			continue
		}
		if !pinned.MatchString(rest) {
			m.Levels = nil
		}
		return m
	}
	return Facts{}
}

// ID returns the name of a model without the collection that Google's lists put in front of it.
func ID(name string) string {
	if i := strings.LastIndex(name, "models/"); i >= 0 {
		return name[i+len("models/"):]
	}
	return name
}

// budgets are the thinking budgets of levels, in tokens, as Google maps OpenAI's efforts.
var budgets = map[string]int{"none": 0, "low": 1_024, "medium": 8_192, "high": 24_576}

// hasBudgets reports whether a model of the second generation is asked for a budget instead of a level.
func (f Facts) hasBudgets() bool { return strings.HasPrefix(f.Prefix, "gemini-2") }

// Thinking returns how a level that the model has is asked for: a budget in tokens if it is not nil, else a level.
func (f Facts) Thinking(level string) (budget *int, name string) {
	if n, ok := budgets[level]; ok && f.hasBudgets() {
		return &n, ""
	}
	return nil, level
}

// SkipSignature replaces the signature of a call that another model made.
// https://ai.google.dev/gemini-api/docs/thought-signatures
const SkipSignature = "skip_thought_signature_validator"

// RequiresSignature reports whether the first call of an answer must have a signature: from the third generation on.
func (f Facts) RequiresSignature() bool { return !f.hasBudgets() && f.Prefix != "gemma" }

// noChat matches listed models that are not for conversations in text.
var noChat = lazyregexp.New(`embed|tts|image|imagen|veo|audio|computer-use|deep-research|live|aqa|lyria|banana|robotics|translate|omni`)

// IsForChat reports whether a listed model is for conversations, by its name.
func IsForChat(id string) bool { return !noChat.MatchString(id) }
