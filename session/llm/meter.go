package llm

import (
	"bytes"
	"slices"
	"sync"
)

// Meter estimates the tokens of the requests of a growing history. It remembers the sums, so
// that each call costs only what is new.
type Meter struct {
	model     string // name of the model; see MessageTokens
	estimator estimator
	sums      []int // sums[i] is the estimate of the first i+1 messages
}

// base is the estimate of what precedes the messages of a request.
type base struct {
	model, system, project string
	tools                  []Tool
	tokens                 int
}

// maxBases is the number of estimates that BaseTokens remembers.
const maxBases = 8

// bases are the last results of BaseTokens, the latest first. Sessions and their turns mostly have
// the same tools.
var bases struct {
	sync.Mutex
	list []base
}

// BaseTokens estimates the tokens of a request without its messages.
func BaseTokens(model, system, project string, tools []Tool) int {
	bases.Lock()
	defer bases.Unlock()
	i := slices.IndexFunc(bases.list, func(b base) bool {
		return b.model == model && b.system == system && b.project == project && slices.EqualFunc(b.tools, tools, sameEstimate)
	})
	var b base
	if i >= 0 {
		b = bases.list[i]
		bases.list = slices.Delete(bases.list, i, i+1)
	} else {
		b = base{model, system, project, slices.Clone(tools), Tokens(model, Request{System: system, Project: project, Tools: tools})}
	}
	bases.list = slices.Insert(bases.list, 0, b)
	bases.list = bases.list[:min(len(bases.list), maxBases)]
	return b.tokens
}

func sameEstimate(a, b Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// Sum estimates the messages. history must begin with the previous call's history, unless
// Forget was called for the rest.
func (m *Meter) Sum(model string, history []Message) int {
	if m.model != model || m.sums == nil {
		m.model, m.estimator, m.sums = model, estimatorOf(model), nil
	}
	m.Forget(len(history))
	m.sums = slices.Grow(m.sums, len(history)-len(m.sums))
	for _, message := range history[len(m.sums):] {
		m.sums = append(m.sums, m.last()+m.estimator.messageTokens(message, model))
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

// HistoryTokens estimates the tokens of a history: the last count of a provider, and the estimate of the messages after it.
func HistoryTokens(model string, history []Message) (tokens int) {
	for _, m := range slices.Backward(history) {
		if m.Count != nil {
			return tokens + m.Count.Tokens
		}
		tokens += MessageTokens(m, model)
	}
	return tokens
}
