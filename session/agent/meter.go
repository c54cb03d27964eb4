package agent

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// The ratio of a provider's count to our estimate is believed within these
// bounds, in percent: tokenizers differ that much, and a count beyond them is one
// of something else.
const (
	leastPercent = 50
	mostPercent  = 200
)

// scale makes an estimate one in the tokens of the provider that counted; base is
// what was estimated of what comes before the messages.
func scale(c *llm.Count, base, estimate int) int {
	if c == nil || c.Tokens <= 0 || base+c.Estimate <= 0 {
		return estimate
	}
	percent := min(max(c.Tokens*100/(base+c.Estimate), leastPercent), mostPercent)
	return estimate * percent / 100
}

// newest is the count that the next request is measured by: the last one of the
// model, else the last one of any.
func newest(history []llm.Message, model string) *llm.Count {
	var other *llm.Count
	for _, m := range slices.Backward(history) {
		switch c := m.Count; {
		case c == nil:
		case c.Model == model:
			return c
		case other == nil:
			other = c
		}
	}
	return other
}

// tokens is how many tokens the next request takes: what the provider counted
// last is exact, and what was added or taken away since is estimated, by the
// measure that the count gives.
func (t *turn) tokens() int {
	name := t.model.Name()
	return t.measured(newest(t.history, name), t.meter.Sum(name, t.history))
}

// measured is how many tokens a request takes whose messages are estimated.
func (t *turn) measured(c *llm.Count, estimate int) int {
	base := t.base()
	switch {
	case c == nil:
		return base + estimate
	case c.Model != t.model.Name(): // its tokens are others: only that they are more is a warning
		return max(base+estimate, scale(c, base, base+estimate))
	}
	tokens := c.Tokens
	if window := t.model.Window(); window > 0 && tokens > window { // no one can have counted that
		tokens = min(tokens, scale(c, base, base+c.Estimate))
	}
	return max(tokens+scale(c, base, estimate-c.Estimate), 0)
}

// base estimates what comes before the messages.
func (t *turn) base() int {
	return llm.Tokens(llm.Request{System: t.system(t.model), Tools: t.offered})
}
