package quota

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// counted counts the calls that reach a tool.
type counted struct {
	executors.Executor
	calls atomic.Int64
}

func (*counted) Tools() []executors.Tool { return nil }

func (*counted) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (c *counted) Execute(context.Context, *executors.Call) (executors.Result, error) {
	c.calls.Add(1)
	return executors.Result{Text: "ok"}, nil
}

func call(attempt int) *executors.Call {
	return &executors.Call{Tool: "read", Attempt: attempt, Record: &executors.Record{}}
}

func TestQuota(t *testing.T) {
	tool := &counted{}
	q := &Quota{Limits: Limits{MaxToolCallsPerSession: 2}}
	chain := q.Middleware(tool)
	for i, tt := range []struct {
		attempt int
		reset   bool
		runs    bool
	}{
		{attempt: 1, runs: true},
		{attempt: 2, runs: true}, // the first one again
		{attempt: 3, runs: true},
		{attempt: 1, runs: true},
		{attempt: 1},
		{attempt: 0}, // unset: a first attempt
		{attempt: 2, runs: true},
		{attempt: 1, reset: true, runs: true},
		{attempt: 1, runs: true},
		{attempt: 1},
	} {
		if tt.reset {
			q.Reset()
		}
		c := call(tt.attempt)
		before := tool.calls.Load()
		res, err := chain.Execute(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if ran := tool.calls.Load() > before; ran != tt.runs || ran == res.Failed {
			t.Errorf("call %d: ran %t, want %t: %q", i, ran, tt.runs, res.ForModel())
		}
		if tt.runs {
			if !cmp.Equal(*c.Record, executors.Record{}) {
				t.Errorf("call %d: recorded %+v, want nothing", i, *c.Record)
			}
			continue
		}
		if res.Category() != executors.QuotaBlocked || !strings.HasPrefix(res.ForModel(), "[tool_error]\ncategory: quota_blocked\n") ||
			!strings.HasSuffix(res.ForModel(), "\nretryable: false") || !strings.Contains(res.ForModel(), "2 tool calls") {
			t.Errorf("call %d: %q", i, res.ForModel())
		}
		if c.Record.Decision() != executors.Deny || !strings.HasPrefix(c.Record.Rule(), "quota: ") {
			t.Errorf("call %d: recorded %+v, want a denial by the quota", i, *c.Record)
		}
	}
}

func TestUnlimited(t *testing.T) {
	tool := &counted{}
	chain := (&Quota{Limits: setting.Default[Limits]()}).Middleware(tool)
	for range 1000 {
		if res, err := chain.Execute(t.Context(), &executors.Call{Attempt: 1}); res.Failed || err != nil {
			t.Fatalf("chain.Execute(t.Context(), &executors.Call{Attempt: 1}): got %s, %v, want success", res.ForModel(), err)
		}
	}
}

func TestAtOnce(t *testing.T) {
	tool := &counted{}
	q := &Quota{Limits: Limits{MaxToolCallsPerSession: 50}}
	chain := q.Middleware(tool)
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			if _, err := chain.Execute(t.Context(), call(1)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := tool.calls.Load(); n != 50 || q.Used() != 200 {
		t.Errorf("%d calls ran, %d were counted", n, q.Used())
	}
}

// Slots follow the order of Prepare, which is the model's, in whatever order
// the calls run.
func TestSlotsInOrder(t *testing.T) {
	tool := &counted{}
	q := &Quota{Limits: Limits{MaxToolCallsPerSession: 2}}
	chain := executors.Chain(tool, q.Middleware)
	calls := []*executors.Call{call(1), call(1), call(1)}
	for _, c := range calls {
		if _, err := chain.Prepare(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range slices.Backward(calls) {
		if res, err := chain.Execute(t.Context(), c); err != nil || res.Failed != (i == 2) {
			t.Errorf("call %d: %q, %v", i, res.ForModel(), err)
		}
	}
	if q.Used() != 3 {
		t.Errorf("%d calls were counted", q.Used())
	}
}

func TestQuotaBlockedIsNeither(t *testing.T) {
	if c := executors.QuotaBlocked; c.Infrastructure() || c.Quality() {
		t.Error("quota_blocked is tried again, or counts as the model's mistake")
	}
}

func TestTighten(t *testing.T) {
	for _, tt := range []struct{ ours, repo, want int }{
		{0, 5, 5}, {10, 5, 5}, {10, 10, 10}, {10, 11, 10}, {10, 0, 10}, {10, -1, 10}, {0, -1, 0}, {0, 0, 0},
	} {
		got, ignored := setting.Tighten(Limits{tt.ours}, Limits{tt.repo}, setting.Paths[Limits]()...)
		if got.MaxToolCallsPerSession != tt.want || (len(ignored) == 0) != (tt.repo == tt.want) {
			t.Errorf("%d over %d: %d, ignored %v, want %d", tt.repo, tt.ours, got.MaxToolCallsPerSession, ignored, tt.want)
		}
	}
	if got, ignored := setting.Tighten(Limits{3}, Limits{1}); got != (Limits{3}) || ignored != nil {
		t.Errorf("a key that is not there: %v, %v", got, ignored)
	}
	if wrong := setting.Check(Limits{-1}); wrong["max_tool_calls_per_session"] == "" {
		t.Error("-1 is taken")
	}
	if wrong := setting.Check(setting.Default[Limits]()); len(wrong) != 0 {
		t.Errorf("setting.Check(setting.Default[Limits]()): got %v, want none", wrong)
	}
}

// TestReopened checks that the count survives a reopened session, and that a reset does too.
func TestReopened(t *testing.T) {
	var saved json.RawMessage
	open := func() *Quota {
		q := &Quota{Limits: Limits{MaxToolCallsPerSession: 2}, Save: func(count json.RawMessage) { saved = count }}
		q.Restore(saved)
		return q
	}
	use := func(q *Quota) bool {
		res, err := q.Middleware(&counted{}).Execute(t.Context(), call(1))
		return err == nil && !res.Failed
	}
	q := open()
	for n, want := range []bool{true, true, false} {
		if got := use(q); got != want {
			t.Fatalf("call %d of a quota of two calls passed: %v, want %v", n+1, got, want)
		}
	}
	if q = open(); use(q) || q.Used() != 4 {
		t.Errorf("the reopened session has used %d calls, want 4, and none left", q.Used())
	}
	q.Reset()
	if q = open(); !use(q) {
		t.Error("no call passes after a reset and another reopening")
	}
}
