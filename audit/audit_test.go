package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

func ptr[T any](v T) *T { return &v }

// hide masks everything that looks like a secret of these tests.
func hide(string) texts.Change {
	return texts.Change{Text: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }}
}

func newLog(t testing.TB) *Log {
	l := New(filepath.Join(t.TempDir(), "state"), setting.Default[Config](), hide)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600))
	var mu sync.Mutex
	l.now = func() time.Time { // each reading is 7 ms after the one before
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(7 * time.Millisecond)
		return at
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// tool is an executor with one tool.
type tool struct {
	executors.Tool
	do func(ctx context.Context, call *executors.Call) (executors.Result, error)
}

func (t tool) Tools() []executors.Tool { return []executors.Tool{t.Tool} }
func (t tool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}
func (t tool) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return t.do(ctx, call)
}

// chain builds a chain as the app does, around a tool that calls do.
func chain(l *Log, do func(ctx context.Context, call *executors.Call) (executors.Result, error)) executors.Executor {
	gate := func(next executors.Executor) executors.Executor {
		return tool{Tool: next.Tools()[0], do: func(ctx context.Context, call *executors.Call) (executors.Result, error) {
			if strings.Contains(string(call.Input), "forbidden") {
				call.Record.Add(executors.Verdict{Gate: executors.PermissionGate, Decision: executors.Deny, Rule: "rule 3 hunter2"})
				call.Record.Reason = "use hunter2"
				return executors.Failf(executors.PolicyBlocked, "not allowed: hunter2"), nil
			}
			call.Record.Add(executors.Verdict{Gate: executors.UserGate, Decision: executors.Allow, Answer: "allow_once"})
			return next.Execute(ctx, call)
		}}
	}
	return executors.Chain(tool{executors.Tool{
		Name: "bash", Kind: executors.KindExecute,
		Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
	}, do}, Middleware(l), executors.Validate, gate)
}

func newCall(input string) *executors.Call {
	return &executors.Call{
		ID: "c1", Tool: "bash", Input: json.RawMessage(input), Session: "s1", Caller: "s1/sub", Attempt: 1,
		Card:   executors.Card{Kind: executors.KindExecute, Script: command.Parse("echo hunter2", command.Shell{})},
		Record: &executors.Record{}, Notify: func(executors.Event) {},
	}
}

func entries(t testing.TB, l *Log) (all []Entry) {
	t.Helper()
	if err := l.Read(func(line Line) error {
		if line.Err != nil {
			t.Errorf("%s: %v: %s", line.Pos(), line.Err, line.Text)
		}
		all = append(all, line.Entry)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMiddleware(t *testing.T) {
	base := func(change func(*Entry)) Entry {
		e := Entry{
			Timestamp: "2026-01-02T02:04:05.013Z", ID: "c1", Tool: "bash", Session: "s1", Caller: "s1/sub", Origin: "model",
			Phase: "executor", Attempt: 1, Command: "echo ***", Input: json.RawMessage(`{"command":"echo ***"}`), Decision: "allow",
			Answer: "allow_once", Gates: []executors.Verdict{{Gate: executors.UserGate, Decision: executors.Allow, Answer: "allow_once"}},
			ClaimSource: "shell", Result: Success, DurationMS: 7, BytesBefore: 3, BytesAfter: 3,
		}
		change(&e)
		return e
	}
	failed := func(c executors.Category, text string) func(context.Context, *executors.Call) (executors.Result, error) {
		return func(context.Context, *executors.Call) (executors.Result, error) {
			return executors.Failf(c, "%s", text), nil
		}
	}
	sizes := func(e *Entry, c executors.Category, text string) {
		e.BytesAfter = len(executors.Failf(c, "%s", text).ForModel())
		e.BytesBefore = e.BytesAfter
		e.Category, e.Error = c, strings.ReplaceAll(text, "hunter2", "***")
	}
	for name, tt := range map[string]struct {
		input string
		do    func(ctx context.Context, call *executors.Call) (executors.Result, error)
		want  Entry
	}{
		"success": {do: func(_ context.Context, call *executors.Call) (executors.Result, error) {
			call.Record.ExitCode, call.Record.OutputBytes, call.Record.ClaimSource = ptr(0), 99, "mcp"
			call.Record.Truncated, call.Record.Waited, call.Record.Filters = true, 5*time.Millisecond, []string{"go-test"}
			return executors.Result{Text: "ok\n"}, nil
		}, want: base(func(e *Entry) {
			e.ExitCode, e.BytesBefore, e.Truncated, e.ClaimSource = ptr(0), 99, true, "mcp"
			e.WaitedMS, e.Filters = 5, []string{"go-test"}
		})},
		"cached": {do: func(_ context.Context, call *executors.Call) (executors.Result, error) {
			call.Record.Cached = true
			return executors.Result{Text: "ok\n"}, nil
		}, want: base(func(e *Entry) { e.Cached = true })},
		"exit code": {do: func(_ context.Context, call *executors.Call) (executors.Result, error) {
			call.Record.ExitCode = ptr(2)
			return executors.Result{Text: "no\n", Failed: true}, nil
		}, want: base(func(e *Entry) { e.Result, e.Category, e.ExitCode = Failed, executors.PermanentFailure, ptr(2) })},
		"126 ran": {do: func(_ context.Context, call *executors.Call) (executors.Result, error) {
			call.Record.ExitCode = ptr(126)
			return executors.Failf(executors.PolicyBlocked, "no"), nil
		}, want: base(func(e *Entry) {
			sizes(e, executors.PolicyBlocked, "no")
			e.Result, e.ExitCode = Failed, ptr(126)
		})},
		"signal": {do: func(_ context.Context, call *executors.Call) (executors.Result, error) {
			return executors.Result{Text: "no\n", Failed: true}, nil
		}, want: base(func(e *Entry) { e.Result, e.Category = Failed, executors.PermanentFailure })},
		"rollback": {do: func(_ context.Context, call *executors.Call) (executors.Result, error) {
			call.Record.ExitCode, call.Record.Rollback = ptr(1), &executors.Rollback{Restored: 2, Deleted: 1}
			return executors.Result{Text: "no\n", Failed: true}, nil
		}, want: base(func(e *Entry) {
			e.Result, e.Category, e.ExitCode = RolledBack, executors.PermanentFailure, ptr(1)
			e.Rollback = &executors.Rollback{Restored: 2, Deleted: 1}
		})},
		"timeout": {do: failed(executors.Timeout, "stopped hunter2"), want: base(func(e *Entry) {
			e.Result = TimedOut
			sizes(e, executors.Timeout, "stopped hunter2")
		})},
		"not answered": {do: failed(executors.ConfirmationRequired, "nobody"), want: base(func(e *Entry) {
			e.Result = Denied
			sizes(e, executors.ConfirmationRequired, "nobody")
		})},
		"denied": {input: `{"command":"forbidden"}`, want: base(func(e *Entry) {
			e.Result, e.Decision, e.Rule, e.Answer, e.Reason = Denied, "deny", "rule 3 ***", "", "use ***"
			e.Input = json.RawMessage(`{"command":"forbidden"}`)
			e.Gates = []executors.Verdict{{Gate: executors.PermissionGate, Decision: executors.Deny, Rule: "rule 3 ***"}}
			sizes(e, executors.PolicyBlocked, "not allowed: hunter2")
		})},
		"unfit": {input: `{"command":5}`, want: base(func(e *Entry) {
			e.Result, e.Decision, e.Answer, e.Gates, e.Input = Failed, "", "", nil, json.RawMessage(`{"command":5}`)
			text := "bash: command must be a string, got 5"
			sizes(e, executors.TypeMismatch, text)
		})},
		"cancelled": {do: func(ctx context.Context, call *executors.Call) (executors.Result, error) {
			return executors.Result{}, fmt.Errorf("x: %w", context.Canceled)
		}, want: base(func(e *Entry) {
			e.Result, e.Category, e.Error, e.BytesBefore, e.BytesAfter = Cancelled, executors.Cancelled, "x: context canceled", 0, 0
		})},
		"broken store": {do: func(ctx context.Context, call *executors.Call) (executors.Result, error) {
			return executors.Result{}, errors.New("disk of hunter2")
		}, want: base(func(e *Entry) {
			e.Result, e.Category, e.Error, e.BytesBefore, e.BytesAfter = Failed, executors.PermanentFailure, "disk of ***", 0, 0
		})},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			if tt.input == "" {
				tt.input = `{"command":"echo hunter2", "_tafc_think": "psst"}`
			}
			_, err := chain(l, tt.do).Execute(t.Context(), newCall(tt.input))
			if wantErr := name == "cancelled" || name == "broken store"; (err != nil) != wantErr {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Entry{tt.want}, entries(t, l)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if r, err := l.Verify(); err != nil || r.Lines != 1 {
				t.Errorf("verify: %+v, %v", r, err)
			}
			raw, err := os.ReadFile(l.file)
			if err != nil || strings.Contains(string(raw), "hunter2") || strings.Contains(string(raw), "psst") || strings.Contains(string(raw), thought) {
				t.Errorf("%v: %s", err, raw)
			}
		})
	}
}

func TestCancelCause(t *testing.T) {
	l := newLog(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := chain(l, func(ctx context.Context, _ *executors.Call) (executors.Result, error) {
		cancel(errors.New("the turn was cancelled"))
		return executors.Result{}, context.Cause(ctx)
	}).Execute(ctx, newCall(`{"command":"x"}`))
	if got := entries(t, l); err == nil || len(got) != 1 || got[0].Result != Cancelled {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestPanic(t *testing.T) {
	l := newLog(t)
	func() {
		defer func() { _ = recover() }()
		_, _ = chain(l, func(context.Context, *executors.Call) (executors.Result, error) { panic("oh") }).Execute(t.Context(), newCall(`{"command":"x"}`))
	}()
	if got := entries(t, l); len(got) != 1 || got[0].Result != Failed || got[0].Error != errPanicked.Error() {
		t.Errorf("%+v", got)
	}
}

func TestLogOff(t *testing.T) {
	off := setting.Default[Config]()
	off.Enabled = false
	for _, l := range []*Log{New("", setting.Default[Config](), nil), New(t.TempDir(), off, nil)} {
		if l != nil {
			t.Fatalf("%+v", l)
		}
		res, err := chain(l, ok).Execute(t.Context(), newCall(`{"command":"x"}`))
		if err != nil || res.ForModel() != "ok\n" || l.Close() != nil {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

func ok(context.Context, *executors.Call) (executors.Result, error) {
	return executors.Result{Text: "ok\n"}, nil
}

func TestInput(t *testing.T) {
	l := newLog(t)
	for name, tt := range map[string]struct{ in, want string }{
		"none":         {"", ""},
		"thoughts":     {`{"a":1.50,"_tafc_think_more":"x","b":{"_tafc_think":1,"c":[{"_tafc_think":2}]}}`, `{"a":1.50,"b":{"c":[{}]}}`},
		"escaped name": {`{"\u005ftafc_think":"x","a":"<&>"}`, `{"a":"<&>"}`},
		"not JSON":     {`{"_tafc_think": "x`, `"… (not JSON, 18 bytes)"`},
		"two":          {`{} {"_tafc_think": "x"}`, `"… (not JSON, 23 bytes)"`},
		"mask":         {`{"hunter2":["hunter2 "]}`, `{"***":["*** "]}`},
		"long":         {`{"a":"` + strings.Repeat("ä", 600) + `"}`, `{"a":"` + strings.Repeat("ä", 512) + `… (1200 bytes)"}`},
		"masked first": {`{"a":"` + strings.Repeat("x", 1020) + `hunter2"}`, `{"a":"` + strings.Repeat("x", 1020) + `***"}`},
		"many":         {`["` + strings.Repeat(`a","`, 9000) + `"]`, `"… (left out, 36004 bytes)"`},
		"cut secret":   {`{"a":"` + strings.Repeat("hunter2", maxMasked/7+1) + `"}`, `{"a":"` + strings.Repeat("*", 1024) + `… (131075 bytes)"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(l.exitOf(&executors.Call{}).input(json.RawMessage(tt.in))); got != tt.want {
				t.Errorf("got  %.300s\nwant %.300s", got, tt.want)
			}
		})
	}
}

// Whatever a call contains, its line is a single line of bounded length without
// terminal control characters.
func TestBody(t *testing.T) {
	l := newLog(t)
	call := newCall(`{"a":"\u001b[2J\u009b\u202e\n"}`)
	evil := strings.Repeat("\x1b\u009b\u202e\n\xff", 30_000)
	call.ID, call.Tool, call.Session, call.Caller = evil, evil, evil, evil
	call.Card = executors.Card{Script: command.Parse(evil, command.Shell{}), URL: evil, Paths: []string{evil, evil}}
	call.Record = &executors.Record{Reason: evil, ClaimSource: evil}
	for range 100 {
		call.Record.Add(executors.Verdict{Gate: executors.PermissionGate, Decision: executors.Deny, Rule: evil, Reason: evil, Source: evil, Answer: evil,
			About: evil, Change: evil})
	}
	for len(call.Card.Paths) < 100 {
		call.Card.Paths = append(call.Card.Paths, evil)
	}
	res, err := chain(l, ok).Execute(t.Context(), call)
	if err != nil || !res.Failed { // no such tool
		t.Errorf("%+v, %v", res, err)
	}
	raw, err := os.ReadFile(l.file)
	if err != nil || len(raw) > maxLine {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	if i := strings.IndexFunc(strings.TrimSuffix(string(raw), "\n"), controlsTerminal); i >= 0 {
		t.Errorf("%q", raw[i:min(i+20, len(raw))])
	}
	if r, err := l.Verify(); err != nil || r.Lines != 1 || len(entries(t, l)) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestClaimSource(t *testing.T) {
	for _, tt := range []struct {
		card executors.Card
		kind executors.Kind
		want string
	}{
		{executors.Card{}, "", ""},
		{executors.Card{}, executors.KindExecute, "shell"},
		{executors.Card{Script: command.Parse("x", command.Shell{})}, "", "shell"},
		{executors.Card{URL: "https://x"}, executors.KindRead, "web_scrape"},
		{executors.Card{}, executors.KindSearch, "file_system"},
		{executors.Card{Kind: executors.KindThink}, executors.KindRead, ""},
		{executors.Card{Server: "github", URL: "https://x"}, executors.KindRead, "mcp"},
	} {
		if got := claimSource(&executors.Call{Card: tt.card, Spec: executors.Tool{Kind: tt.kind}}); got != tt.want {
			t.Errorf("%+v, %s: %q, want %q", tt.card, tt.kind, got, tt.want)
		}
	}
	for name, want := range map[string]string{"fetch": executors.FromWeb, "http_head": executors.FromWeb, "bash": executors.FromShell,
		"read": executors.FromFiles} {
		if got := claimSource(&executors.Call{Tool: name, Spec: cataloguetest.Spec(name)}); got != want {
			t.Errorf("the content of %s comes from %q, want %q", name, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	c := setting.Default[Config]()
	for size, wrong := range map[int64]bool{0: false, 1: true, -1: true, 1 << 20: false} {
		c.MaxBytes = size
		if bad := setting.Check(c); (bad["max_bytes"] != "") != wrong {
			t.Errorf("%d: %v", size, bad)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	b.ReportAllocs()
	l := newLog(b)
	c := chain(l, ok)
	plain := chain(nil, ok)
	call := newCall(`{"command":"echo hunter2"}`)
	for name, c := range map[string]executors.Executor{"with": c, "without": plain} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := c.Execute(b.Context(), call); err != nil || res.Failed {
					b.Fatal(res, err)
				}
			}
		})
	}
}
