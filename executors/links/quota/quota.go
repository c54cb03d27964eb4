// Package quota bounds how many tool calls a session makes.
//
// Put [Quota.Middleware] around the chain of one session, inside of audit and
// outside of the links that check or run calls. It promises that a call beyond the
// quota never runs and is never dropped silently: it fails as quota_blocked, and
// the audit line says so. The count survives a reopened session. A denied or failed call counts like any other; a retried
// call counts once. Parallel calls use up the quota in the model's order.
package quota

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Quota counts the calls of one session. It may be used concurrently.
type Quota struct {
	Limits Limits
	// Save receives the count after each change, for [Quota.Restore] of the reopened
	// session; nil keeps none. It is not called while there is no limit.
	Save func(count json.RawMessage)

	mu   sync.Mutex
	used int64
}

// Name is the name of the count in the log of the session.
const Name = "quota"

// Reset sets the count to 0.
func (q *Quota) Reset() { q.count(func() { q.used = 0 }) }

// Restore sets the count to one that Save received; no count changes nothing.
func (q *Quota) Restore(count json.RawMessage) {
	var used int64
	if json.Unmarshal(count, &used) != nil || used < 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used = used
}

// Used returns how many calls were counted, including those beyond the quota.
func (q *Quota) Used() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int(q.used)
}

// count changes the count and saves it.
func (q *Quota) count(change func()) (used int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change()
	if q.Save != nil && q.Limits.MaxToolCallsPerSession > 0 {
		q.Save(strconv.AppendInt(nil, q.used, 10))
	}
	return q.used
}

// key is the setting of the quota.
const key = "tools.max_tool_calls_per_session"

// Middleware returns the link that counts calls of any origin.
func (q *Quota) Middleware(next executors.Executor) executors.Executor {
	return counter{next, q}
}

type counter struct {
	executors.Executor
	quota *Quota
}

// Prepare reserves the call's slot: calls are prepared in the model's order, and
// may then run in parallel.
func (c counter) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	c.countOnce(call)
	return c.Executor.Prepare(ctx, call)
}

// countOnce counts a call once; it does not count later attempts again.
func (c counter) countOnce(call *executors.Call) {
	if call.Slot == 0 && call.Attempt <= 1 {
		call.Slot = c.quota.count(func() { c.quota.used++ })
	}
}

func (c counter) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	c.countOnce(call)
	if most := c.quota.Limits.MaxToolCallsPerSession; most > 0 && call.Slot > int64(most) {
		if call.Record != nil {
			call.Record.Add(executors.Verdict{
				Gate: Name, Decision: executors.Deny, Rule: fmt.Sprintf("%s = %d", key, most), Source: key,
				Change: "the key " + key + "; the command /clear restarts the count",
			})
		}
		return executors.Failuref(executors.QuotaBlocked,
			"the session's quota of %s is used up; %s was not run", quantity.Count(most, "tool call"), call.Tool).
			Hint("Call no more tools; answer with what you know, and tell the user that /clear resets the quota and that tools.max_tool_calls_per_session sets it.").
			Result(), nil
	}
	return c.Executor.Execute(ctx, call)
}

// Limits is the quota's part of the table [tools].
type Limits struct {
	MaxToolCallsPerSession int `toml:"max_tool_calls_per_session" default:"0" range:"0.." zero:"no limit" tighten:"limit" unit:"tool calls" doc:"per session; /clear resets the count"`
}
