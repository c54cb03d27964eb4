package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// An entry has every fact of its call, and no secret of any of its texts.
func TestEntryHasEveryFact(t *testing.T) {
	l := newLog(t)
	bash := tool{executors.Tool{Name: "bash"}, func(_ context.Context, call *executors.Call) (executors.Result, error) {
		call.Attempt = 2
		r := call.Record
		r.Reason = "as hunter2 says"
		r.Waited = 5 * time.Millisecond
		r.Verdicts = []executors.Verdict{
			{Gate: "policy", Decision: executors.Allow, Rule: "first hunter2"},
			{Gate: "trust", Decision: executors.Ask, Rule: "low", Reason: "hunter2 is new"},
			{Gate: "authorization", Decision: executors.Ask, Rule: "second"},
			{Gate: "policy", Decision: executors.Allow, Rule: "first hunter2"},
			{Gate: "permission", Decision: executors.Ask, Rule: "rule hunter2", Source: "hunter2.toml", Change: "change hunter2", About: "hunter2.example"},
			{Gate: "permission", Decision: executors.Ask, Rule: "rule hunter2"},
			{Gate: "user", Decision: executors.Ask, Answer: "allow_once"},
		}
		r.Hooks = []executors.HookRun{{Event: "before", Command: "echo hunter2", Source: "/hunter2/hooks.toml", Error: "hunter2 failed", DurationMS: 1}}
		r.Adversarial, r.Trust, r.Suspect = "error:hunter2", "untrusted", "hunter2.go"
		r.ExitCode, r.Rollback = ptr(3), &executors.Rollback{Restored: 1}
		r.Truncated, r.Cached, r.OutputBytes, r.Filters = true, true, 99, []string{"make"}
		return executors.Failf(executors.PermanentFailure, "no hunter2"), nil
	}}
	_, err := executors.Chain(bash, Middleware(l)).Execute(t.Context(), &executors.Call{
		ID: "c1", Tool: "bash", Input: json.RawMessage(`{"command":"hunter2"}`), Session: "s1", Caller: "s1/sub", Attempt: 1,
		Card: executors.Card{Script: command.Parse("echo hunter2 && cat <a >b", command.Shell{}), URL: "https://hunter2.example", Paths: []string{"/w/hunter2"},
			Server: "files"},
		Record: &executors.Record{Code: "rate_limited"}, Notify: func(executors.Event) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	size := len(executors.Failf(executors.PermanentFailure, "no hunter2").ForModel())
	want := Entry{
		Timestamp: "2026-01-02T02:04:05.013Z", ID: "c1", Tool: "bash", Session: "s1", Caller: "s1/sub", Origin: "model", Phase: "executor", Attempt: 2,
		Command: "echo *** && cat <a >b", URL: "https://***.example", Paths: []string{"/w/***"}, Input: json.RawMessage(`{"command":"***"}`),
		Decision: "ask", Rule: "***.example: rule ***; rule ***", Answer: "allow_once", Reason: "as *** says", Adversarial: "error:***",
		Gates: []executors.Verdict{
			{Gate: "policy", Decision: executors.Allow, Rule: "first ***"},
			{Gate: "trust", Decision: executors.Ask, Rule: "low", Reason: "*** is new"},
			{Gate: "authorization", Decision: executors.Ask, Rule: "second"},
			{Gate: "policy", Decision: executors.Allow, Rule: "first ***"},
			{Gate: "permission", Decision: executors.Ask, Rule: "rule ***", Source: "***.toml", Change: "change ***", About: "***.example"},
			{Gate: "permission", Decision: executors.Ask, Rule: "rule ***"},
			{Gate: "user", Decision: executors.Ask, Answer: "allow_once"},
		},
		PolicyMatch: "first ***; second",
		Hooks:       []executors.HookRun{{Event: "before", Command: "echo ***", Source: "/***/hooks.toml", Error: "*** failed", DurationMS: 1}},
		Trust:       "untrusted", ClaimSource: "mcp", MCPServer: "files", MCPCode: "rate_limited", Suspect: "***.go",
		Result: RolledBack, Category: executors.PermanentFailure, Error: "no ***", ExitCode: ptr(3), Truncated: true, Cached: true,
		Rollback: &executors.Rollback{Restored: 1}, DurationMS: 7, WaitedMS: 5, BytesBefore: 99, BytesAfter: size, Filters: []string{"make"},
	}
	if diff := cmp.Diff([]Entry{want}, entries(t, l)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for field, value := range reflect.ValueOf(want).Fields() {
		if value.IsZero() {
			t.Errorf("the call of this test has nothing for %s", field.Name)
		}
	}
	raw, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "hunter2") {
		t.Errorf("the line has a secret: %s", raw)
	}
	if !strings.Contains(string(raw), "echo *** && cat <a >b") {
		t.Errorf("the command is escaped more than JSON needs: %s", raw)
	}
}

func TestPolicyMatch(t *testing.T) {
	policy := func(d executors.Decision, rule string) executors.Verdict {
		return executors.Verdict{Gate: "policy", Decision: d, Rule: rule}
	}
	for name, tt := range map[string]struct {
		verdicts []executors.Verdict
		want     string
	}{
		"no verdict":            {nil, ""},
		"other gates":           {[]executors.Verdict{{Gate: "trust", Decision: executors.Deny, Rule: "a"}}, ""},
		"each rule once":        {[]executors.Verdict{policy(executors.Allow, "a"), policy(executors.Ask, "b"), policy(executors.Allow, "a")}, "a; b"},
		"a denial stands alone": {[]executors.Verdict{policy(executors.Allow, "a"), policy(executors.Deny, "b"), policy(executors.Deny, "c")}, "b"},
	} {
		if got := policyMatch(tt.verdicts); got != tt.want {
			t.Errorf("%s: policyMatch = %q, want %q", name, got, tt.want)
		}
	}
}

// An entry names the first paths of a call, and says how many there are.
func TestManyPaths(t *testing.T) {
	l := newLog(t)
	call := newCall(`{}`)
	for i := range maxPaths + 2 {
		call.Card.Paths = append(call.Card.Paths, fmt.Sprintf("/w/%d", i))
	}
	want := append(call.Card.Paths[:maxPaths:maxPaths], fmt.Sprintf("… (%d paths)", maxPaths+2))
	if diff := cmp.Diff(want, l.newEntry(call, l.now()).Paths); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A long text is cut before it is masked. No part of a secret is left at the cut.
func TestCutBeforeMasking(t *testing.T) {
	l := newLog(t)
	if got := l.exitOf(&executors.Call{}).text(strings.Repeat("hunter2", maxMasked/7+1), maxMasked); strings.Contains(got, "h") {
		t.Errorf("the text ends with a part of a secret: %q", got[len(got)-40:])
	}
}

// The page about the log has exactly the members of a line.
func TestPageHasEveryMember(t *testing.T) {
	page, err := os.ReadFile("../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| member | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for row := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		documented = append(documented, strings.Split(strings.Trim(names, "`"), "`, `")...)
	}
	members := []string{"prev", "hash"}
	for field := range reflect.TypeFor[Entry]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		members = append(members, name)
	}
	slices.Sort(documented)
	slices.Sort(members)
	if diff := cmp.Diff(members, documented); diff != "" {
		t.Errorf("members (-log +page)\n%s", diff)
	}
}
