package bedrock

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// effort is the Thinking of a model whose levels are a word in its request.
type effort struct {
	levels []string
	fields func(level string) map[string]any
}

func (e effort) Levels() []string { return e.levels }

// Limit returns 0: the model knows its limit best.
func (e effort) Limit(string) int { return 0 }

func (e effort) Fields(level string, _ int, _ bool) map[string]any { return e.fields(level) }

// efforts are the models with such levels, by the beginning of their IDs.
//
//	https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
//	https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
var efforts = map[string]Thinking{
	"amazon.nova-2": effort{[]string{llm.ThoughtOff, "low", "medium", "high"}, func(level string) map[string]any {
		if level == llm.ThoughtOff {
			return map[string]any{"reasoningConfig": map[string]string{"type": "disabled"}}
		}
		return map[string]any{"reasoningConfig": map[string]string{"type": "enabled", "maxReasoningEffort": level}}
	}},
	"openai.gpt-oss": effort{[]string{"low", "medium", "high"}, func(level string) map[string]any {
		return map[string]any{"reasoning_effort": level}
	}},
}

// windows are the context windows of models, in tokens, by the beginning of their IDs.
//
//	https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html
//	https://docs.aws.amazon.com/nova/latest/nova2-userguide/what-is-nova-2.html
var windows = map[string]int{
	"amazon.nova-micro":   128_000,
	"amazon.nova-lite":    300_000,
	"amazon.nova-pro":     300_000,
	"amazon.nova-premier": 1_000_000,
	"amazon.nova-2":       1_000_000,
	"openai.gpt-oss":      128_000,
}

// WindowOf returns the context window of a model other than Claude, in tokens; 0 means unknown.
func WindowOf(id string) int {
	family := Family(id)
	for prefix, window := range windows {
		if strings.HasPrefix(family, prefix) {
			return window
		}
	}
	return 0
}
