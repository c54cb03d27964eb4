package failover

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// retrier asks a model again if it failed before its answer began, for a temporary
// reason. Each wait is an event.
type retrier struct {
	llm.Model
	limits backoff.Limits
	clock  backoff.Clock
}

// Unwrap returns the model that is asked.
func (r *retrier) Unwrap() llm.Model { return r.Model }

// Stream asks the model, several times if necessary.
func (r *retrier) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		var schedule *backoff.Schedule
		stalls := 0
		for try := 1; ; try++ {
			e := relayAnswer(ctx, r.Model, req, yield, func(e *llm.Error) bool { return e.Retryable })
			if e == nil {
				return
			}
			if try == 1 {
				schedule = r.limits.Begin(r.clock)
			}
			wait, ok := schedule.Next(e.RetryAfter)
			of := r.limits.MaxAttempts + 1
			if e.Stalled {
				stalls, of = stalls+1, min(of, try+1)
			}
			if try > r.limits.MaxAttempts || !ok || stalls > 1 {
				yield(llm.Event{}, exhausted(e, try))
				return
			}
			if !yield(llm.Event{Wait: &llm.Wait{Failure: sentence(e), For: wait, Try: try + 1, Of: of}}, nil) {
				return
			}
			if err := r.clock.Sleep(ctx, wait); err != nil {
				yield(llm.Event{}, err)
				return
			}
		}
	}
}

// relayAnswer asks the model and passes its answer on. If the provider fails before the
// answer began, and hold accepts the error, relayAnswer returns the error instead of
// passing it on. It returns nil when the answer is complete.
func relayAnswer(
	ctx context.Context, m llm.Model, req llm.Request, yield func(llm.Event, error) bool, hold func(*llm.Error) bool,
) *llm.Error {
	begun := false
	for ev, err := range m.Stream(ctx, req) {
		if err != nil && !begun && ctx.Err() == nil {
			if e, ok := errors.AsType[*llm.Error](err); ok && hold(e) {
				return e
			}
		}
		begun = begun || ev.IsContent()
		if !yield(ev, err) {
			return nil
		}
	}
	return nil
}

// exhausted returns the failure of the last attempt, with the number of attempts in its
// hint.
func exhausted(e *llm.Error, tries int) *llm.Error {
	last := *e
	if e.RetryAfter > 0 {
		last.Hint = fmt.Sprintf("wait %s, then try again", llm.FormatDuration(e.RetryAfter))
	}
	if tries > 1 {
		last.Hint = joinHints(fmt.Sprintf("tried %s", quantity.Count(tries, "time")), last.Hint)
	}
	return &last
}

// joinHints joins two hints. Each may be empty.
func joinHints(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
