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
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/backoff"
)

// Middleware puts the link into a chain; it is nothing where no call is to be
// run again.
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
	schedule := r.config.limits().Begin(r.clock)
	for tries := 1; ; tries++ {
		if tries > r.config.MaxAttempts {
			return tell(res, fmt.Sprintf("[tried %d times]", tries)), nil
		}
		wait, ok := schedule.Next(res.RetryAfter)
		if !ok {
			return tell(res, gaveUp(tries, res.RetryAfter)), nil
		}
		if err := r.clock.Sleep(ctx, wait); err != nil {
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
