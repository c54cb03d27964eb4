package llm

import "slices"

// Meter estimates the tokens of the requests of a growing history. It remembers the sums, so
// that each call costs only what is new.
type Meter struct {
	model string // name of the model; see MessageTokens
	sums  []int  // sums[i] is the estimate of the first i+1 messages
	base  base
}

// base is the estimate of what precedes the messages.
type base struct {
	model, system string
	tools         []Tool
	tokens        int
}

// Base estimates the tokens of a request without its messages.
func (m *Meter) Base(model, system string, tools []Tool) int {
	b := &m.base
	sameTools := len(b.tools) == len(tools) && (len(tools) == 0 || &b.tools[0] == &tools[0])
	if b.model != model || b.system != system || !sameTools {
		*b = base{model, system, tools, Tokens(model, Request{System: system, Tools: tools})}
	}
	return b.tokens
}

// Sum estimates the messages. history must begin with the previous call's history, unless
// Forget was called for the rest.
func (m *Meter) Sum(model string, history []Message) int {
	if m.model != model {
		m.model, m.sums = model, nil
	}
	m.Forget(len(history))
	m.sums = slices.Grow(m.sums, len(history)-len(m.sums))
	for _, message := range history[len(m.sums):] {
		m.sums = append(m.sums, m.last()+MessageTokens(message, model))
	}
	return m.last()
}

func (m *Meter) last() int {
	if len(m.sums) == 0 {
		return 0
	}
	return m.sums[len(m.sums)-1]
}

// Forget keeps only the first n messages.
func (m *Meter) Forget(n int) { m.sums = m.sums[:min(n, len(m.sums))] }

// CountOf returns the count of an answer, the last message of a history with that
// estimate. It excludes thoughts that are not sent back.
func CountOf(model string, u Usage, blocks []Block, estimate int) *Count {
	unsent := 0
	for _, b := range blocks {
		if b.Thought != "" && b.Opaque == nil {
			unsent += TextTokens(model, b.Thought)
		}
	}
	return &Count{Model: model, Tokens: u.Input + max(u.Output-unsent, 0), Estimate: estimate}
}
