// Package retry is the link of the chain that runs a call again when what failed
// lies outside of it: a server that is overloaded, a network that is down.
//
// Start with [Config.Middleware]. It promises that only tools that say that
// running them twice is running them once are run again, never one that may
// change something, and that a cancelled turn ends at once, also while it waits.
// What it does not do is tell why a call failed: it goes by the category alone.
//
// Why is a call whose turn has ended not run again, although it failed by a
// timeout? Because that is the turn's time, not the call's.
package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Middleware puts the link into a chain; it is nothing where no call is to be
// run again.
func (c Config) Middleware(next executors.Executor) executors.Executor {
	if c.MaxAttempts == 0 {
		return next
	}
	return &retrier{Executor: next, config: c, random: rand.Float64}
}

type retrier struct {
	executors.Executor // Tools and Prepare pass through
	config             Config
	random             func() float64 // from 0 to 1
}

func (r *retrier) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	var before executors.Record
	if call.Record != nil {
		before = *call.Record
	}
	res, err := r.Executor.Execute(ctx, call)
	if err != nil || !res.Failed || !res.Category.Infrastructure() || ctx.Err() != nil || !repeatable(call.Spec.Effect) {
		return res, err
	}
	return r.again(ctx, call, before, res)
}

// repeatable reports whether a tool with this effect may be run again. One that is
// gone has no effect.
func repeatable(effect executors.Effect) bool {
	return effect.Has(executors.Idempotent) && !effect.Has(executors.Mutates)
}

// again runs a call that failed with res until it does not, or the limits are
// reached. before is what was on record when it was run first.
func (r *retrier) again(ctx context.Context, call *executors.Call, before executors.Record, res executors.Result) (executors.Result, error) {
	failed := time.Now()
	intervals := r.intervals()
	for tries := 1; ; tries++ {
		if tries > r.config.MaxAttempts {
			return tell(res, fmt.Sprintf("[tried %d times]", tries)), nil
		}
		wait := max(r.jitter(intervals.NextBackOff()), res.RetryAfter)
		if !r.affordable(time.Since(failed), wait) {
			return tell(res, gaveUp(tries, res.RetryAfter)), nil
		}
		if err := sleep(ctx, wait); err != nil {
			drop(res)
			return executors.Result{}, err
		}
		drop(res)
		if call.Record != nil {
			*call.Record = before // what the failed try found out
		}
		call.Attempt++
		var err error
		res, err = r.Executor.Execute(ctx, call)
		if err != nil || !res.Failed || !res.Category.Infrastructure() || ctx.Err() != nil {
			return res, err
		}
	}
}

// intervals are how long to wait at most before each further try.
func (r *retrier) intervals() *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{
		InitialInterval: r.config.base(), MaxInterval: r.config.max(), Multiplier: 2,
	}
	b.Reset()
	return b
}

// jitter takes up to half of a wait away, so that those who failed together do
// not come back together.
func (r *retrier) jitter(d time.Duration) time.Duration {
	return d - time.Duration(r.random()*float64(d)/2)
}

// longest is what nobody waits for, whatever the budget.
const longest = 5 * time.Minute

func (r *retrier) affordable(since, wait time.Duration) bool {
	budget := r.config.budget()
	return wait <= longest && (budget == 0 || since+wait <= budget)
}

// gaveUp is the note on a call whose next try would come too late.
func gaveUp(tries int, after time.Duration) string {
	times := "once"
	if tries > 1 {
		times = fmt.Sprintf("%d times", tries)
	}
	if after > 0 {
		return fmt.Sprintf("[tried %s; it may be asked again in %s]", times, after.Round(time.Second))
	}
	return fmt.Sprintf("[tried %s; there was no time for another try]", times)
}

// tell adds a note behind what the failure says.
func tell(res executors.Result, note string) executors.Result {
	res.Text += "\n" + note
	return res
}

// drop gives back what a result holds that nobody will see.
func drop(res executors.Result) {
	_ = res.Full.Close()
	if res.Done != nil {
		res.Done()
	}
}

// sleep waits, or gives ctx's cause.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
