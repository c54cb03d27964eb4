package anthropic

import (
	"cmp"
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
func (m modelFacts) thinkingConfig(level string, maxTokens int, thoughtless func() bool) (*thinkingConfig, *outputConfig) {
	var output *outputConfig
	known := slices.Contains(m.selectableLevels(), level)
	switch {
	case m.thinks == thinkBudget:
		budget := min(thinkBudgets[level], maxTokens/4*3)
		if !known || budget < minThinkBudget || thoughtless() {
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
	limit := cmp.Or(c.cfg.MaxTokens, c.facts.limit(req.Thought))
	if c.served() > 0 && req.Size > 0 {
		limit = min(limit, wire.AnswerTokens(c.Window(), req.Size))
	}
	return limit
}

// limit returns the usual limit of an answer at a level.
func (m modelFacts) limit(level string) int {
	if slices.Contains(m.levels, level) && (level == "xhigh" || level == "max") {
		return min(deepMaxTokens, m.output)
	}
	return min(defaultMaxTokens, m.output)
}

// Thinking is how a Claude is asked to think at a provider with a protocol of its own, such as Bedrock.
type Thinking struct{ facts modelFacts }

// ThinkingOf returns how the Claude of a name is asked to think.
func ThinkingOf(model string) Thinking { return Thinking{factsOf(model)} }

// Levels returns the thought levels, from least to most.
func (t Thinking) Levels() []string { return t.facts.selectableLevels() }

// Limit returns the usual limit of an answer at a level, in tokens.
func (t Thinking) Limit(level string) int { return t.facts.limit(level) }

// Fields returns the members of a request for a level. Thoughtless reports that the answers before the last results began
// without a thought.
func (t Thinking) Fields(level string, limit int, thoughtless bool) map[string]any {
	fields := map[string]any{}
	thinking, output := t.facts.thinkingConfig(level, limit, func() bool { return thoughtless })
	if thinking != nil {
		fields["thinking"] = thinking
	}
	if output != nil {
		fields["output_config"] = output
	}
	return fields
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
