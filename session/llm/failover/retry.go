package failover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Retry is the table [llm.retry]: how often and how soon a model is asked again when
// its provider fails before an answer begins.
type Retry struct {
	// MaxAttempts is how often a model is asked again at most, after a failure of
	// the network or of the provider's own. Default 4, so five tries in all; 0
	// means never.
	MaxAttempts int `toml:"max_attempts"`
	// BaseMS is the longest wait before the first further try, in milliseconds;
	// each one after doubles it. Half of it or more is waited. Default 1000; 0
	// means no wait.
	BaseMS int `toml:"base_ms"`
	// MaxMS is the longest that this wait becomes, in milliseconds. Default
	// 20000; it may not be less than base_ms. A provider that asks for a longer
	// one gets it, within the budget.
	MaxMS int `toml:"max_ms"`
	// BudgetSecs is until when after the first failure another try may begin, in
	// seconds. Default 60; 0 means no limit, save that nobody waits for more than
	// five minutes.
	BudgetSecs int `toml:"budget_secs"`
}

// Defaults returns the limits that apply where the configuration sets none.
func Defaults() Retry {
	return Retry{MaxAttempts: 4, BaseMS: 1000, MaxMS: 20_000, BudgetSecs: 60}
}

// Bounds of the limits.
const (
	maxAttempts = 10
	longestWait = 5 * time.Minute
	maxWaitMS   = int(longestWait / time.Millisecond)
	maxBudget   = 3600
)

// Validate returns a message for each key that is out of bounds.
func (r Retry) Validate() map[string]string {
	wrong := map[string]string{}
	for _, k := range []struct {
		name        string
		value, most int
	}{
		{"max_attempts", r.MaxAttempts, maxAttempts},
		{"base_ms", r.BaseMS, maxWaitMS},
		{"max_ms", r.MaxMS, maxWaitMS},
		{"budget_secs", r.BudgetSecs, maxBudget},
	} {
		if k.value < 0 || k.value > k.most {
			wrong[k.name] = fmt.Sprintf("must be from 0 to %d, is %d", k.most, k.value)
		}
	}
	if r.BaseMS > r.MaxMS && len(wrong) == 0 {
		wrong["max_ms"] = fmt.Sprintf("must not be less than base_ms (%d), is %d", r.BaseMS, r.MaxMS)
	}
	return wrong
}

// intervals returns the longest wait before each further attempt.
func (r Retry) intervals() *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{
		InitialInterval: time.Duration(r.BaseMS) * time.Millisecond,
		MaxInterval:     time.Duration(r.MaxMS) * time.Millisecond, Multiplier: 2,
	}
	b.Reset()
	return b
}

// affordable reports whether the wait fits into the budget, so long after the first
// failure.
func (r Retry) affordable(since, wait time.Duration) bool {
	budget := time.Duration(r.BudgetSecs) * time.Second
	return wait <= longestWait && (budget == 0 || since+wait <= budget)
}

// Clock is time and chance, which tests replace.
type Clock struct {
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error // returns ctx's cause if ctx ends first
	Random func() float64                                   // from 0 to 1
}

// SystemClock returns the system's time and chance.
func SystemClock() Clock { return Clock{time.Now, sleep, rand.Float64} }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// retrier asks a model again that failed before its answer began, for a reason that may
// pass. Each wait is an event.
type retrier struct {
	llm.Model
	config Retry
	Clock
}

// Unwrap returns the model that is asked.
func (r *retrier) Unwrap() llm.Model { return r.Model }

// Stream asks the model, several times if necessary.
func (r *retrier) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		intervals := r.config.intervals()
		var failed time.Time // first
		for try := 1; ; try++ {
			e := relay(ctx, r.Model, req, yield, func(e *llm.Error) bool { return e.Again })
			if e == nil {
				return
			}
			if try == 1 {
				failed = r.Now()
			}
			wait := intervals.NextBackOff()
			// Subtract up to half, so that clients that failed together do not return
			// together.
			wait = max(wait-time.Duration(r.Random()*float64(wait)/2), e.RetryAfter)
			if try > r.config.MaxAttempts || !r.config.affordable(r.Now().Sub(failed), wait) {
				yield(llm.Event{}, gaveUp(e, try))
				return
			}
			if !yield(llm.Event{Wait: &llm.Wait{Failure: sentence(e), For: wait, Try: try + 1, Of: r.config.MaxAttempts + 1}}, nil) {
				return
			}
			if err := r.Sleep(ctx, wait); err != nil {
				yield(llm.Event{}, err)
				return
			}
		}
	}
}

// relay asks the model and passes its answer on. If the provider fails before the
// answer began, with an error that hold accepts, relay returns that error instead of
// passing it on; nil means that the answer is over.
func relay(ctx context.Context, m llm.Model, req llm.Request, yield func(llm.Event, error) bool, hold func(*llm.Error) bool) *llm.Error {
	begun := false
	for ev, err := range m.Stream(ctx, req) {
		if err != nil && !begun && ctx.Err() == nil {
			if e, ok := errors.AsType[*llm.Error](err); ok && hold(e) {
				return e
			}
		}
		begun = begun || ev.Begins()
		if !yield(ev, err) {
			return nil
		}
	}
	return nil
}

// gaveUp returns the failure of the last attempt, with the number of attempts in its
// hint.
func gaveUp(e *llm.Error, tries int) *llm.Error {
	last := *e
	if e.RetryAfter > 0 {
		last.Hint = fmt.Sprintf("wait %s, then try again", llm.Span(e.RetryAfter))
	}
	if tries > 1 {
		last.Hint = joinHints(fmt.Sprintf("tried %d times", tries), last.Hint)
	}
	return &last
}

// joinHints joins two hints, each of which may be empty.
func joinHints(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
