// Package retry is the link of the chain that retries calls after failures that they did
// not cause, such as an overloaded server or a broken network.
//
// Start with [Config.Middleware]. It promises to retry only idempotent tools,
// never one that may change something. A cancelled turn ends immediately, even
// during a wait. It decides only by the failure's category.
//
// Why is there no retry after a timeout of the turn? Because the turn ran out
// of time, not the call.
package retry

import (
	"context"
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Middleware puts the link around next; it returns next if no call is ever retried.
func (c Config) Middleware(next executors.Executor) executors.Executor {
	if c.MaxAttempts == 0 {
		return next
	}
	return &retrier{Executor: next, config: c, clock: backoff.SystemClock()}
}

type retrier struct {
	executors.Executor // Tools and Prepare pass through
	config             Config
	clock              backoff.Clock
}

func (r *retrier) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	var before executors.Record
	if call.Record != nil {
		before = *call.Record
	}
	res, err := r.Executor.Execute(ctx, call)
	if err != nil || !res.Failed || !res.Category().Infrastructure() || ctx.Err() != nil || !repeatable(call.Spec.Effect) {
		return res, err
	}
	return r.retry(ctx, call, before, res)
}

// repeatable reports whether a tool with this effect may be run again. The effect
// of a tool that no longer exists is 0.
func repeatable(effect executors.Effect) bool {
	return effect.Has(executors.Idempotent) && !effect.Has(executors.Mutates)
}

// retry runs a call that failed with res until it succeeds or the limits are
// reached. before is the record before the first run.
func (r *retrier) retry(ctx context.Context, call *executors.Call, before executors.Record,
	res executors.Result) (executors.Result, error) {
	schedule := r.config.Limits.Begin(r.clock)
	for tries := 1; ; tries++ {
		if tries > r.config.MaxAttempts {
			res.Below(fmt.Sprintf("[tried %s]", quantity.Count(tries, "time")))
			return res, nil
		}
		wait, ok := schedule.Next(res.Failure.RetryAfter)
		if !ok {
			res.Below(budgetNote(tries, res.Failure.RetryAfter))
			return res, nil
		}
		if err := r.clock.Sleep(ctx, wait); err != nil {
			discard(res)
			return executors.Result{}, err
		}
		discard(res)
		if call.Record != nil {
			*call.Record = before // drop the facts of the failed try
		}
		call.Attempt++
		var err error
		res, err = r.Executor.Execute(ctx, call)
		if err != nil || !res.Failed || !res.Category().Infrastructure() || ctx.Err() != nil {
			return res, err
		}
	}
}

// budgetNote returns the note on a call whose next attempt would exceed the budget.
func budgetNote(tries int, after time.Duration) string {
	times := "once"
	if tries > 1 {
		times = quantity.Count(tries, "time")
	}
	if after > 0 {
		return fmt.Sprintf("[tried %s; the server accepts another attempt in %s]", times, after.Round(time.Second))
	}
	return fmt.Sprintf("[tried %s; there was no time for another attempt]", times)
}

// discard releases the resources of a result that is not used.
func discard(res executors.Result) {
	_ = res.Full.Close()
	if res.Done != nil {
		res.Done()
	}
}
