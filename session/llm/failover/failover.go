// Package failover handles the failures of providers: it tries again, asks another
// model, and continues an answer that broke off.
//
// Start with [New]. It promises that each wait and each change of the model is an event. No text is
// sent twice, and a cancel ends a wait immediately. It decides only by the [llm.Error], whatever
// the protocol or provider.
package failover

import (
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// New returns a model that handles the failures of first. Each model is tried again
// within the limits. When first fails permanently before its answer begins, the others
// are asked in turn. An answer that breaks off is continued once.
func New(limits backoff.Limits, c backoff.Clock, first llm.Model, others ...llm.Model) llm.Model {
	m := llm.Model(&retrier{first, limits, c})
	if len(others) > 0 {
		retried := make([]llm.Model, len(others))
		for i, other := range others {
			retried[i] = &retrier{other, limits, c}
		}
		m = &fallback{Model: m, others: retried, clock: c}
	}
	return &resumer{m}
}
