// Package backoff schedules further attempts after a failure. Tool calls and
// model requests share it.
//
// Start with [Limits.Begin] after the first failure, and call [Schedule.Next] after each.
// [RetryAfter] parses the wait that a server asks for, and [Sleep] waits. It promises
// that a wait stays within the limits. It makes no attempt itself.
package backoff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Limits bound the attempts after a failure.
type Limits struct {
	// MaxAttempts is the number of further attempts.
	MaxAttempts int `toml:"max_attempts" range:"0..10" tighten:"lower" unit:"retries" doc:"after a failure of the network or server, or a rate limit"`
	// BaseMS is the upper bound of the first wait. The actual wait is at least half of it.
	BaseMS int `toml:"base_ms" range:"0..300000" unit:"milliseconds" doc:"of the first wait; doubled for each retry, then shortened at random by up to half"`
	// MaxMS bounds that wait. A server that asks for a longer wait gets it, within the budget.
	MaxMS int `toml:"max_ms" range:"0..300000" unit:"milliseconds" doc:"of the longest wait, unless the server asks for more; at least base_ms"`
	// BudgetSecs does not lengthen a single wait, which is five minutes at most.
	BudgetSecs int `toml:"budget_secs" range:"0..3600" zero:"no limit" tighten:"limit" unit:"seconds" doc:"after the first failure in which retries may begin"`
}

// longestWait bounds a single wait.
const longestWait = 5 * time.Minute

// Validate returns a message if the two waits disagree.
func (l Limits) Validate() map[string]string {
	if l.BaseMS <= l.MaxMS {
		return nil
	}
	return map[string]string{"max_ms": fmt.Sprintf("must not be less than base_ms (%d), is %d", l.BaseMS, l.MaxMS)}
}

// Clock is a source of time and randomness, which tests replace.
type Clock struct {
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error // returns ctx's cause if ctx ends first
	Random func() float64                                   // from 0 to 1
}

// SystemClock returns the system's clock and randomness.
func SystemClock() Clock { return Clock{time.Now, Sleep, rand.Float64} }

// Schedule plans the attempts after one failure.
type Schedule struct {
	limits       Limits
	clock        Clock
	firstFailure time.Time
	intervals    backoff.ExponentialBackOff
}

// Begin returns the schedule of an attempt that failed now.
func (l Limits) Begin(c Clock) *Schedule {
	s := &Schedule{limits: l, clock: c, firstFailure: c.Now(), intervals: backoff.ExponentialBackOff{
		InitialInterval: time.Duration(l.BaseMS) * time.Millisecond,
		MaxInterval:     time.Duration(l.MaxMS) * time.Millisecond,
		Multiplier:      2,
	}}
	s.intervals.Reset()
	return s
}

// Next returns the wait before the next attempt: at least as long as the server asked for.
// Ok is false if the wait exceeds the budget.
func (s *Schedule) Next(asked time.Duration) (wait time.Duration, ok bool) {
	// Subtract up to half, so that clients that failed together do not return together.
	wait = s.intervals.NextBackOff()
	wait = max(wait-time.Duration(s.clock.Random()*float64(wait)/2), asked)
	budget := time.Duration(s.limits.BudgetSecs) * time.Second
	return wait, wait <= longestWait && (budget == 0 || s.clock.Now().Sub(s.firstFailure)+wait <= budget)
}

// Sleep waits, or returns ctx's cause if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// maxRetryAfter bounds the wait that a server asks for: some ask for centuries.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns how long a response asks the client to wait before another
// attempt, at most a day. 0 means that it does not ask. In addition to the
// standard's forms it accepts fractions of a second and the header
// Retry-After-Ms.
//
// https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// seconds converts a number of seconds, clamped to the range from 0 to
// maxRetryAfter.
func seconds(s float64) time.Duration {
	if !(s > 0) { // or not a number
		return 0
	}
	return time.Duration(min(s, maxRetryAfter.Seconds()) * float64(time.Second))
}
