package anthropic

import (
	"slices"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// think asks for a thought level that the model has, within its limits; any other
// level means the default. p has its messages and MaxTokens.
// https://platform.claude.com/docs/en/build-with-claude/thinking
func (m modelFacts) think(p *anthropic.MessageNewParams, level string) {
	known := slices.Contains(m.offers(), level)
	switch {
	case m.thinks == thinkBudget:
		if budget := min(thinkBudgets[level], p.MaxTokens/4*3); known && budget >= minThinkBudget && !thoughtless(p.Messages) {
			p.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
		}
		return
	case !known:
	case level != llm.ThoughtOff:
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(level)
	case m.thinks == thinkDefault:
		p.Thinking.OfDisabled = new(anthropic.NewThinkingConfigDisabledParam())
		return
	case m.thinks == thinkUpFront:
		p.Thinking.OfBetweenTools = new(anthropic.NewThinkingConfigBetweenToolsParam())
		return
	default:
		return
	}
	p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized}
}

// maxTokens returns the bound of an answer at a thought level.
func (c *Model) maxTokens(level string) int {
	switch {
	case c.cfg.MaxTokens > 0:
		return c.cfg.MaxTokens
	case slices.Contains(c.knows.levels, level) && (level == "xhigh" || level == "max"):
		return min(deepMaxTokens, c.knows.output)
	}
	return min(defaultMaxTokens, c.knows.output)
}

// thoughtless reports whether the answers before the last results began without a
// thought, as after a change of the level between them. The API then refuses a budget
// until the next prompt.
func thoughtless(messages []anthropic.MessageParam) bool {
	isResult := func(b anthropic.ContentBlockParamUnion) bool { return b.OfToolResult != nil }
	for i := len(messages) - 1; i > 0 && isResult(messages[i].Content[0]); i -= 2 {
		first := messages[i-1].Content[0]
		if first.OfThinking != nil || first.OfRedactedThinking != nil {
			return false
		}
		if i < 2 || !isResult(messages[i-2].Content[len(messages[i-2].Content)-1]) {
			return true // the prompt is there
		}
	}
	return false
}
