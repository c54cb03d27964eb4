package agent

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// The ratio of a provider's count to our estimate is limited to this range, in
// percent. Tokenizers differ by less, so a ratio outside of it does not compare the
// same text.
const (
	minPercent = 50
	maxPercent = 200
)

// minCountPercent is the lower bound of a request's tokens, in percent of our estimate. A
// lower count of the provider leaves something out, such as the cached part. If we
// believed it, the conversation would grow without limit.
const minCountPercent = 25

// scale converts an estimate to the tokens of a provider, using its count c.
// base is the estimate of everything before the messages.
func scale(c *llm.Count, base, estimate int) int {
	if c == nil || c.Tokens <= 0 || base+c.Estimate <= 0 {
		return estimate
	}
	percent := min(max(c.Tokens*100/(base+c.Estimate), minPercent), maxPercent)
	return estimate * percent / 100
}

// newestCount returns the count to use for the next request: the model's last one,
// or else the last one of any model. Earlier versions stored counts with an estimate of
// bytes, which reads as 0 here; they are skipped.
func newestCount(history []llm.Message, model string) *llm.Count {
	var other *llm.Count
	for _, m := range slices.Backward(history) {
		switch c := m.Count; {
		case c == nil || c.Estimate == 0:
		case c.Model == model:
			return c
		case other == nil:
			other = c
		}
	}
	return other
}

// newestCount returns the count to use for the next request with a history.
func (t *turn) newestCount(history []llm.Message) *llm.Count {
	if c := t.refusedCount; c != nil && c.Model == t.model.Name() {
		return c
	}
	return newestCount(history, t.model.Name())
}

// tokens returns the number of tokens of the next request. The provider's last
// count is exact, unless it is impossibly low or high. The messages added or
// removed since are estimated, and scaled by the ratio of that count to its
// estimate.
func (t *turn) tokens() int {
	name := t.model.Name()
	return t.measured(t.newestCount(t.history), t.meter.Sum(name, t.history))
}

// measured returns the number of tokens of a request with this estimate of its
// messages.
func (t *turn) measured(c *llm.Count, estimate int) int {
	base := t.baseTokens()
	switch {
	case c == nil:
		return base + estimate
	case c.Model != t.model.Name(): // counted by another tokenizer, so it may only raise the estimate
		return max(base+estimate, scale(c, base, base+estimate))
	}
	tokens := c.Tokens
	if window := t.model.Window(); window > 0 && tokens > window { // the provider cannot have counted that
		tokens = min(tokens, scale(c, base, base+c.Estimate))
	}
	return max(tokens+scale(c, base, estimate-c.Estimate), (base+estimate)*minCountPercent/100)
}

// baseTokens estimates everything before the messages.
func (t *turn) baseTokens() int {
	return llm.BaseTokens(t.model.Name(), t.system(), t.project(), t.offered)
}

// system returns the system prompt for the turn's model; the built-in models need none.
func (t *turn) system() string {
	if t.System == nil || isDirect(t.model) {
		return ""
	}
	text := t.System()
	if text == "" || llm.CallsInText(t.model) || len(t.tools) == 0 {
		return text
	}
	if t.systemText.own != text {
		t.systemText = systemText{text, strings.TrimRight(text, "\n") + "\n\n" + structuredCalls + "\n"}
	}
	return t.systemText.sent
}

// project returns the part of the system prompt that differs between projects.
func (t *turn) project() string {
	if t.Project == nil || isDirect(t.model) {
		return ""
	}
	return t.Project()
}

// systemText is a system prompt, and what is sent of it to models that call tools natively.
type systemText struct{ own, sent string }
