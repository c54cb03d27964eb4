// Package recent keeps the decision records of a session's last calls, for /why and /status.
//
// Put [Calls.Middleware] around the chain of one session and of its sub-agents, inside of audit
// and outside of all links that may refuse a call. Older calls are in the audit log.
package recent

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Calls are the last calls of one session. It may be used concurrently.
type Calls struct {
	// Place is used as in [executors.Record].
	Place func(key string) string
	// Hidden returns the verdict of the rule that hides a tool from the model; nil hides none.
	Hidden func(tool string) (executors.Verdict, bool)

	mu   sync.Mutex
	last []*explained // the newest is last
}

// kept is the number of calls that are kept.
const kept = 50

// explained is a call whose decision is told to people.
type explained struct{ subject, list, deciding string }

// Middleware returns the link that keeps the calls.
func (c *Calls) Middleware(next executors.Executor) executors.Executor { return keeper{next, c} }

type keeper struct {
	executors.Executor
	calls *Calls
}

func (k keeper) Execute(ctx context.Context, call *executors.Call) (res executors.Result, err error) {
	if call.Record == nil {
		call.Record = &executors.Record{}
	}
	call.Record.Place = k.calls.Place
	if call.Spec.Name == "" && k.calls.Hidden != nil {
		if v, hidden := k.calls.Hidden(call.Tool); hidden {
			call.Record.Add(v)
		}
	}
	e := k.calls.begin(call)
	defer func() { k.calls.end(e, call, res) }()
	return k.Executor.Execute(ctx, call)
}

// begin keeps a call that is about to be checked.
func (c *Calls) begin(call *executors.Call) *explained {
	e := &explained{subject: call.Subject(), list: "- The call is still running.", deciding: "still running"}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = append(c.last[max(0, len(c.last)-kept+1):], e)
	return e
}

// end explains a call that has ended.
func (c *Calls) end(e *explained, call *executors.Call, res executors.Result) {
	list := call.Record.Explain()
	if list == "" && res.Failure != nil {
		list = "- No gate checked it, since it could not run: " + executors.WholeLine(executors.Shown(res.Failure.Error()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.list, e.deciding = list, call.Record.Deciding()
}

// Why answers the command /why: who decided what about a call, and why. rest is the number of the
// call, counted from the last one; empty means 1.
func (c *Calls) Why(rest string) string {
	n, err := 1, error(nil)
	if rest != "" {
		n, err = strconv.Atoi(rest)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil || n < 1:
		return "Type `/why` for the last call, or `/why 2` for the one before it."
	case len(c.last) == 0:
		return "No tool was called since this session was opened. `zeph-acp audit show` has earlier calls."
	case n > len(c.last):
		return fmt.Sprintf("Only the last %s can be explained here. `zeph-acp audit show` has earlier ones.", quantity.Count(len(c.last), "call"))
	}
	e := c.last[len(c.last)-n]
	return strings.TrimSuffix(e.subject+"\n"+e.list, "\n")
}

// Status returns the line of /status about the last call.
func (c *Calls) Status() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) == 0 {
		return nil
	}
	e := c.last[len(c.last)-1]
	return []string{"Last decision: " + e.subject + ": " + e.deciding}
}
