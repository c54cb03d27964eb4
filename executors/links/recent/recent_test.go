package recent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/quota"
)

// tool allows each call by a default. It asks the session in a call of the title "why".
type tool struct{ calls *Calls }

func (tool) Tools() []executors.Tool {
	return []executors.Tool{{Name: "bash", Schema: json.RawMessage(`{"type":"object"}`)}}
}

func (tool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (t tool) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	call.Record.Add(executors.Verdict{Gate: executors.PermissionGate, Decision: executors.Allow, Rule: "default: reads", Source: executors.BuiltIn})
	switch call.Card.Title {
	case "why":
		return executors.Result{Text: t.calls.Why("") + "\n" + strings.Join(t.calls.Status(), "")}, nil
	case "panic":
		panic("a tool panics")
	}
	return executors.Result{}, nil
}

func run(t *testing.T, chain executors.Executor, name, title string) executors.Result {
	t.Helper()
	defer func() { _ = recover() }()
	res, err := chain.Execute(t.Context(), &executors.Call{Tool: name, Input: json.RawMessage("{}"), Card: executors.Card{Title: title}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Every call is explained: also one that a rule hides, one beyond the quota, one that panicked,
// and one that could not run.
func TestWhy(t *testing.T) {
	calls := &Calls{Hidden: func(name string) (executors.Verdict, bool) {
		return executors.Verdict{Gate: executors.PermissionGate, Decision: executors.Deny, Rule: "rule *", Source: "/c.toml:1"}, name == "hidden"
	}}
	q := &quota.Quota{Limits: quota.Limits{MaxToolCallsPerSession: 5}}
	chain := executors.Chain(tool{calls}, calls.Middleware, q.Middleware, executors.Validate)
	why := func(rest, want string) {
		t.Helper()
		if got := calls.Why(rest); got != want {
			t.Errorf("/why %s: got\n%s\nwant\n%s", rest, got, want)
		}
	}
	why("", "No tool was called since this session was opened. `zeph-acp audit show` has earlier calls.")
	if got := calls.Status(); got != nil {
		t.Errorf("the status without a call is %q, want none", got)
	}
	const allowed = "\n- permission allows: reads (built in)"
	run(t, chain, "bash", "first")
	why("", "bash: first"+allowed)
	run(t, chain, "bash", "panic")
	why("", "bash: panic"+allowed)
	run(t, chain, "hidden", "second")
	why("1", "hidden: second\n- permission denies: rule * (/c.toml:1)")
	run(t, chain, "unknown", "third")
	if got := calls.Why("1"); !strings.HasPrefix(got, "unknown: third\n- No gate checked it, since it could not run: ") {
		t.Errorf("/why about an unknown tool: got %q", got)
	}
	const running = "bash: why\n- The call is still running.\nLast decision: bash: why: still running"
	if got := run(t, chain, "bash", "why").Text; got != running {
		t.Errorf("/why in a call: got %q, want %q", got, running)
	}
	run(t, chain, "bash", "sixth")
	const beyond = "quota denies: tools.max_tool_calls_per_session = 5"
	why("", "bash: sixth\n- "+beyond+"\n- What changes it: the key tools.max_tool_calls_per_session; the command /clear restarts the count")
	why("5", "bash: panic"+allowed)
	why("7", "Only the last 6 calls can be explained here. `zeph-acp audit show` has earlier ones.")
	if got, want := strings.Join(calls.Status(), "\n"), "Last decision: bash: sixth: "+beyond; got != want {
		t.Errorf("the status is %q, want %q", got, want)
	}
	for _, rest := range []string{"0", "-1", "x", "1 2"} {
		why(rest, "Type `/why` for the last call, or `/why 2` for the one before it.")
	}
}

// Only the last calls are kept.
func TestKept(t *testing.T) {
	calls := &Calls{}
	chain := executors.Chain(tool{calls}, calls.Middleware)
	for i := range kept + 5 {
		run(t, chain, "bash", fmt.Sprint(i))
	}
	if got := calls.Why(fmt.Sprint(kept)); !strings.HasPrefix(got, "bash: 5\n") || len(calls.last) != kept {
		t.Errorf("the oldest of %d calls is %q, want bash: 5", len(calls.last), got)
	}
}
