package llm

// NewFailover returns a model that keeps answering when a provider fails. Each model
// is tried again as retry says. When first fails for good before its answer begins,
// the others are asked in turn. An answer that breaks off is continued once.
func NewFailover(retry Retry, c clock, first Model, others ...Model) Model {
	m := Model(&retrier{first, retry, c})
	if len(others) > 0 {
		retried := make([]Model, len(others))
		for i, other := range others {
			retried[i] = &retrier{other, retry, c}
		}
		m = &fallback{Model: m, others: retried, clock: c}
	}
	return &resumer{m}
}
