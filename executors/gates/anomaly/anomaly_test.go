package anomaly

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// tool returns the results in turn.
type tool struct{ result executors.Result }

func (tool) Tools() []executors.Tool { return nil }

func (tool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (t tool) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	if t.result.Failure == nil && t.result.Failed || t.result.Text == "exited" {
		call.Record.ExitCode = new(1)
	}
	return t.result, nil
}

var (
	done   = executors.Result{Text: "ok"}
	exited = executors.Result{Failed: true}
	broken = executors.Failf(executors.ServerError, "no answer")
)

// session is a detector with a store of blocks, as package trust has it.
type session struct {
	*Detector
	blocked map[string]string
	warned  []string
}

func newSession(cfg Config) *session {
	s := &session{Detector: New(cfg), blocked: map[string]string{}}
	s.Block = func(tool, why string) { s.blocked[tool] = why }
	s.Blocked = func(tool string) string { return s.blocked[tool] }
	s.Warn = func(text string) { s.warned = append(s.warned, text) }
	return s
}

func (s *session) call(t *testing.T, name string, result executors.Result) *executors.Call {
	t.Helper()
	call := &executors.Call{Tool: name, Record: &executors.Record{}}
	if _, err := executors.Chain(tool{result}, s.Link()).Execute(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	return call
}

func TestBlocks(t *testing.T) {
	cfg := setting.Default[Config]()
	cfg.WindowSize = 4
	s := newSession(cfg)
	s.call(t, "fetch", broken)
	s.call(t, "fetch", broken)
	s.call(t, "read", done)
	if len(s.blocked) > 0 {
		t.Fatalf("blocked after two calls: %v", s.blocked)
	}
	third := s.call(t, "fetch", broken)
	if diff := cmp.Diff(map[string]string{"fetch": "3 of its last 3 calls failed"}, s.blocked); diff != "" {
		t.Fatal(diff)
	}
	want := executors.Verdict{Gate: Name, Decision: executors.Allow, Rule: "failure_threshold = 0.7", Reason: "3 of its last 3 calls failed",
		Source: "tools.anomaly.failure_threshold"}
	if diff := cmp.Diff([]executors.Verdict{want}, third.Record.Verdicts); diff != "" {
		t.Error(diff)
	}
	denied := s.call(t, "fetch", done).Record
	if denied.Decision() != executors.Deny || denied.Verdicts[0].Reason != "the tool fetch is blocked (3 of its last 3 calls failed)" {
		t.Errorf("recorded %+v, want a denial with the reason", denied)
	}
	if v := s.call(t, "read", done).Record.Verdicts; v != nil {
		t.Errorf("another tool: got the verdicts %+v, want none", v)
	}
	withdrawn := ""
	s.Withdraw = func(text string) { withdrawn = text }
	delete(s.blocked, "fetch")
	s.Forget("fetch")
	s.call(t, "fetch", broken)
	if len(s.blocked) > 0 || len(s.warned) != 1 || withdrawn != s.warned[0] || !strings.Contains(s.warned[0], "`/trust reset fetch`") {
		t.Errorf("blocked %v, warned %q, want no block and one warning that names the command", s.blocked, s.warned)
	}
}

// TestCounts checks which results count as failed.
func TestCounts(t *testing.T) {
	timedOut := executors.Failf(executors.Timeout, "killed")
	timedOut.Text = "exited"
	notFound := executors.Failf(executors.PermanentFailure, "command not found")
	notFound.Text = "exited"
	for name, tt := range map[string]struct {
		result executors.Result
		counts bool
	}{
		"success":               {done, false},
		"an exit code":          {exited, false},
		"an exit code of bash":  {notFound, false},
		"a command's timeout":   {timedOut, true},
		"a server's error":      {broken, true},
		"a wrong parameter":     {executors.Failf(executors.InvalidParameters, "no"), true},
		"a missing file":        {executors.Failf(executors.PermanentFailure, "no"), true},
		"a denial":              {executors.Failf(executors.PolicyBlocked, "no"), false},
		"a server's refusal":    {executors.Failuref(executors.PolicyBlocked, "403").Outside().Result(), true},
		"an unanswered call":    {executors.Failf(executors.ConfirmationRequired, "no"), false},
		"a call over the quota": {executors.Failf(executors.QuotaBlocked, "no"), false},
		"a cancelled call":      {executors.Failf(executors.Cancelled, "no"), false},
	} {
		s := newSession(Config{Enabled: true, WindowSize: 5, FailureThreshold: 0.5, AutoBlock: true})
		for range 5 {
			s.call(t, "x", tt.result)
		}
		if blocked := s.blocked["x"] != ""; blocked != tt.counts {
			t.Errorf("%s: blocked %t, want %t", name, blocked, tt.counts)
		}
	}
}

// The window slides, and a warning repeats only after the rate has fallen.
func TestWindow(t *testing.T) {
	cfg := setting.Default[Config]()
	cfg.AutoBlock, cfg.WindowSize, cfg.FailureThreshold = false, 4, 0.5
	s := newSession(cfg)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	warned := func(results ...executors.Result) int {
		before := len(s.warned)
		for _, r := range results {
			s.call(t, "x", r)
		}
		return len(s.warned) - before
	}
	if n := warned(done, done, broken, broken); n != 0 {
		t.Errorf("warned %d times at the threshold", n)
	}
	if n := warned(broken, broken, broken); n != 1 {
		t.Errorf("warned %d times above it", n)
	}
	if n := warned(done, done, done, broken, broken); n != 0 {
		t.Errorf("warned %d times below it", n)
	}
	if n := warned(broken); n != 1 {
		t.Errorf("warned %d times above it again", n)
	}
	if !strings.Contains(log.String(), `tool=x calls="3 of its last 4 calls failed"`) || len(s.blocked) > 0 {
		t.Errorf("blocked %v, want no block, and 3 of 4 calls in the log %s", s.blocked, &log)
	}
	s.Reset()
	if n := warned(broken, broken); n != 0 {
		t.Errorf("warned %d times after a reset", n)
	}
}

// TestHalfWindow checks that a window which is not full is checked only while all of its calls
// have failed.
func TestHalfWindow(t *testing.T) {
	s := newSession(setting.Default[Config]())
	s.call(t, "x", done)
	for i := range 18 {
		s.call(t, "x", broken)
		if len(s.blocked) > 0 {
			t.Fatalf("blocked after %d calls of a window of %d, one of which succeeded", i+2, setting.Default[Config]().WindowSize)
		}
	}
	s.call(t, "x", broken)
	if diff := cmp.Diff(map[string]string{"x": "19 of its last 20 calls failed"}, s.blocked); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultsNeedEvidence(t *testing.T) {
	s := newSession(setting.Default[Config]())
	for i := range 10 {
		if len(s.blocked) > 0 {
			t.Fatalf("blocked after %d calls", i)
		}
		s.call(t, "x", broken)
	}
	if len(s.blocked) == 0 {
		t.Error("not blocked after 10 failures")
	}
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("setting.Check(setting.Default[Config]()): got %v, want none", wrong)
	}
	for _, c := range []Config{{WindowSize: 2, FailureThreshold: 2}, {WindowSize: 1001, FailureThreshold: -1}, {FailureThreshold: math.NaN()}} {
		if wrong := setting.Check(c); wrong["window_size"] == "" || wrong["failure_threshold"] == "" {
			t.Errorf("%+v: got %v, want faults of window_size and failure_threshold", c, wrong)
		}
	}
	got, ignored := setting.Tighten(setting.Default[Config](), Config{WindowSize: 5, FailureThreshold: 0.5}, setting.Paths[Config]()...)
	if want := (Config{true, 20, 0.5, true}); got != want || !slices.Equal(ignored, []string{"auto_block", "enabled", "window_size"}) {
		t.Errorf("%+v, ignored %v", got, ignored)
	}
	if New(Config{}).Link() != nil {
		t.Error("a gate that is off has a link")
	}
}
