package llm

import ()

// meter estimates how many tokens a history takes, and remembers it: what was
// added since is all that the next look costs.
type Meter struct {
	model string // the estimate is for; see MessageTokens
	sums  []int  // sums[i] is that of the first i+1 messages
}

// sum estimates the messages. They must be those of the last call, unless forget
// was called for what differs, and what came after.
func (m *Meter) Sum(model string, history []Message) int {
	if m.model != model {
		*m = Meter{model: model}
	}
	m.Forget(len(history))
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

// forget forgets all but the first n messages.
func (m *Meter) Forget(n int) { m.sums = m.sums[:min(n, len(m.sums))] }

// counted is the count of an answer, the last message of a history that is
// estimated with it. The thoughts that only we have are no part of the next
// request, though they were of the answer.
func CountOf(model string, u Usage, blocks []Block, estimate int) *Count {
	unsent := 0
	for _, b := range blocks {
		if b.Thought != "" && b.Opaque == nil {
			unsent += Tokens(Request{System: b.Thought})
		}
	}
	return &Count{Model: model, Tokens: u.Input + max(u.Output-unsent, 0), Estimate: estimate}
}
