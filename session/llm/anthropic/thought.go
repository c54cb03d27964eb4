package anthropic

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// thinkingConfig says whether to think, and how much.
type thinkingConfig struct {
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

// thinkingConfig asks for a thought level that the model has, within its limits; any other
// level means the default. Nil leaves a part out.
// https://platform.claude.com/docs/en/build-with-claude/thinking
func (m modelFacts) thinkingConfig(level string, maxTokens int, messages []form) (*thinkingConfig, *outputConfig) {
	var output *outputConfig
	known := slices.Contains(m.selectableLevels(), level)
	switch {
	case m.thinks == thinkBudget:
		budget := min(thinkBudgets[level], maxTokens/4*3)
		if !known || budget < minThinkBudget || thoughtless(messages) {
			return nil, nil
		}
		return &thinkingConfig{Type: "enabled", BudgetTokens: budget}, nil
	case !known:
	case level != llm.ThoughtOff:
		output = &outputConfig{level}
	case m.thinks == thinkDefault:
		return &thinkingConfig{Type: "disabled"}, nil
	case m.thinks == thinkUpFront:
		return &thinkingConfig{Type: "between_tools"}, nil
	default:
		return nil, nil
	}
	return &thinkingConfig{Type: "adaptive", Display: "summarized"}, output
}

// maxTokens returns the limit of an answer: the configured one or the one of the thought level, and no more than the request leaves of
// a window that the server states.
func (c *Model) maxTokens(req llm.Request) int {
	limit := c.cfg.MaxTokens
	if limit == 0 {
		limit = min(defaultMaxTokens, c.facts.output)
		if slices.Contains(c.facts.levels, req.Thought) && (req.Thought == "xhigh" || req.Thought == "max") {
			limit = min(deepMaxTokens, c.facts.output)
		}
	}
	if c.served() > 0 && req.Size > 0 {
		limit = min(limit, wire.AnswerTokens(c.Window(), req.Size))
	}
	return limit
}

// thoughtless reports whether the answers before the last results began without a
// thought, as after a change of the level between them. The API then refuses a budget
// until the next prompt.
func thoughtless(forms []form) bool {
	messages := mergedForms(forms)
	for i := len(messages) - 1; i > 0 && messages[i].first == typeResult; i -= 2 {
		if messages[i-1].first.isThought() {
			return false
		}
		if i < 2 || messages[i-2].last != typeResult {
			return true // the prompt is there
		}
	}
	return false
}

// mergedForms returns the messages as they are sent, without their blocks; see appendMessages.
func mergedForms(forms []form) []form {
	var out []form
	for _, f := range forms {
		switch n := len(out); {
		case len(f.blocks) == 0:
		case n > 0 && out[n-1].role == f.role:
			out[n-1].last = f.last
		default:
			out = append(out, form{role: f.role, first: f.first, last: f.last})
		}
	}
	return out
}
