// Package anomaly watches how often the calls of each tool fail, and blocks a tool
// that fails too often.
//
// Put [Detector.Link] into the chain of one session, outside of the links that retry. It promises
// that a block is reversible, and that the user is notified once. A tool is checked from a full
// window, or from the first half of it (at least three calls) if all of these failed.
//
// A call has failed if its result has a category, such as timeout or server_error.
// These calls do not count as failed:
//   - a command that ran and ended with an exit code: a failing test is the
//     command's answer, not an anomaly of bash;
//   - a call that a gate, a rule or the user refused, since it did not run;
//   - a call of a cancelled turn.
//
// Why is the block not in this package? A block is a level of trust, so that /trust can
// show and lift it.
package anomaly

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Name is the name of the gate.
const Name = "anomaly"

// Detector watches the tools of one session. It may be used concurrently. Start with
// [New].
type Detector struct {
	// Block blocks a tool until the user resets it; why is the reason for people. If
	// Block is nil, no tool is blocked.
	Block func(tool, why string)
	// Blocked returns why Block blocked a tool, or ""; nil means never.
	Blocked func(tool string) string
	// Warn receives a line for the user, and Withdraw one that no longer applies; nil
	// drops it.
	Warn, Withdraw func(text string)
	Log            *slog.Logger // nil logs nothing

	cfg Config

	mu    sync.Mutex
	tools map[string]*window
}

// New returns a detector that has seen no call.
func New(cfg Config) *Detector { return &Detector{cfg: cfg, tools: map[string]*window{}} }

// Link returns the gate, or nil if it is off.
func (d *Detector) Link() executors.Middleware {
	if !d.cfg.Enabled {
		return nil
	}
	gate := executors.Gate(Name, d.check)
	return func(next executors.Executor) executors.Executor { return gate(observer{next, d}) }
}

// check denies a blocked tool. If the gate trust is on, that gate denies the tool first.
func (d *Detector) check(_ context.Context, call *executors.Call) (executors.Verdict, error) {
	if d.Blocked == nil {
		return executors.Verdict{}, nil
	}
	why := d.Blocked(call.Tool)
	if why == "" {
		return executors.Verdict{}, nil
	}
	return executors.Verdict{
		Decision: executors.Deny, Rule: fmt.Sprintf("failure_threshold = %v", d.cfg.FailureThreshold),
		Reason: fmt.Sprintf("the tool %s is blocked (%s)", call.Tool, why),
		Source: "tools.anomaly.failure_threshold", Change: fmt.Sprintf("the command /trust reset %s", call.Tool),
	}, nil
}

// Forget drops the calls of a tool, so that it is checked again, and withdraws
// the warning about it.
func (d *Detector) Forget(tool string) {
	d.mu.Lock()
	w := d.tools[tool]
	delete(d.tools, tool)
	d.mu.Unlock()
	if w != nil && w.warning != "" && d.Withdraw != nil {
		d.Withdraw(w.warning)
	}
}

// Reset drops the calls of all tools. Blocks stay.
func (d *Detector) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.tools)
}

// observer counts the outcomes of calls.
type observer struct {
	executors.Executor
	detector *Detector
}

func (o observer) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := o.Executor.Execute(ctx, call)
	if err == nil && res.Category() != executors.Cancelled && !res.Denied() {
		o.detector.observe(call, failed(call, res))
	}
	return res, err
}

// failed reports whether a call that ran counts as failed.
func failed(call *executors.Call, res executors.Result) bool {
	ended := call.Record != nil && call.Record.ExitCode != nil
	return res.Failed && res.Category() != "" && (!ended || res.Category() == executors.Timeout)
}

// observe counts one call, and acts if its tool fails too often.
func (d *Detector) observe(call *executors.Call, failed bool) {
	why := d.count(call.Tool, failed)
	if why == "" {
		return
	}
	if d.Log != nil {
		d.Log.Warn("anomaly: a tool fails unusually often", "session", call.Session, "call", call.ID, "tool", call.Tool, "calls", why)
	}
	warning := fmt.Sprintf("The tool %s fails unusually often: %s.", call.Tool, why)
	if d.cfg.AutoBlock && d.Block != nil {
		d.Block(call.Tool, why)
		warning = fmt.Sprintf("The tool %s is blocked, since %s. `/trust reset %s` allows it again.", call.Tool, why, call.Tool)
	}
	if call.Record != nil { // the call itself was allowed
		call.Record.Add(executors.Verdict{
			Gate: Name, Decision: executors.Allow, Rule: fmt.Sprintf("failure_threshold = %v", d.cfg.FailureThreshold), Reason: why,
			Source: "tools.anomaly.failure_threshold",
		})
	}
	if d.Warn != nil {
		d.Warn(warning)
		d.mu.Lock()
		defer d.mu.Unlock()
		if w := d.tools[call.Tool]; w != nil {
			w.warning = warning
		}
	}
}

// count adds a call to the window of its tool. It returns the reason to act when the
// window first exceeds the threshold.
func (d *Detector) count(tool string, failed bool) (why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.tools[tool]
	if w == nil {
		w = &window{outcomes: make([]bool, 0, d.cfg.WindowSize)}
		d.tools[tool] = w
	}
	w.add(failed)
	first := w.size() >= d.cfg.minCalls() && w.failures == w.size()
	if !first && w.size() < d.cfg.WindowSize {
		return ""
	}
	exceeds := w.rate() > d.cfg.FailureThreshold
	if !exceeds || w.reported {
		w.reported = exceeds
		return ""
	}
	w.reported = true
	return fmt.Sprintf("%d of its last %s failed", w.failures, quantity.Count(w.size(), "call"))
}
