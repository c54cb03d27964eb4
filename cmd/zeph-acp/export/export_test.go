package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/export"
	"github.com/zeph-acp/zeph-acp/executors"
)

var product = export.Product{Name: "zeph|acp", Version: "1.0"}

func mask(s string) string { return strings.ReplaceAll(s, "hunter2", "[REDACTED]") }

// entry has characters that each format escapes.
func entry() *audit.Entry {
	code := 1
	return &audit.Entry{
		Timestamp: "2026-11-22T10:00:00.123Z", ID: "id-1", Tool: "bash", Session: "s=1", Origin: "model", Phase: "executor",
		Command: "echo 'a|b' = \\ hunter2\necho \x1b[2J", Decision: "deny", Rule: `rule "x" (config.toml:3)`, Reason: "not = now", MCPServer: "db",
		Gates:  []executors.Verdict{{Gate: "policy", Decision: "allow"}, {Gate: "guard", Decision: "deny"}},
		Hooks:  []executors.HookRun{{Event: "PreToolUse", Command: "lint.sh"}},
		Result: audit.Denied, Category: executors.PolicyBlocked, ExitCode: &code, DurationMS: 1 << 40, WaitedMS: 7, Filters: []string{"go-test", "pytest"},
	}
}

// TestCEF checks the escapes of the header (pipe, backslash) and of the extension
// (equals sign, backslash, line ends).
func TestCEF(t *testing.T) {
	var b strings.Builder
	if err := (export.CEF{Product: product, Mask: mask}).Write(&b, entry()); err != nil {
		t.Fatal(err)
	}
	want := `CEF:0|zeph\|acp|zeph\|acp|1.0|bash|tool call: denied|7|rt=1795341600123 externalId=id-1 act=deny outcome=denied reason=policy_blocked ` +
		`msg=echo 'a|b' \= \\ [REDACTED]\necho ` + "\uFFFD" + `[2J cs1Label=session cs1=s\=1 cs2Label=rule cs2=rule "x" (config.toml:3) ` +
		`cs3Label=gates cs3=policy\=allow guard\=deny cs4Label=phase cs4=executor cs5Label=mcpServer cs5=db cs6Label=hooks cs6=PreToolUse: lint.sh flexString1Label=userReason flexString1=not \= now ` +
		`cn1Label=exitCode cn1=1 cn2Label=durationMs cn2=1099511627776` + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCEFBounds checks that a field is never longer than the dictionary allows.
func TestCEFBounds(t *testing.T) {
	e := entry()
	e.Command = strings.Repeat("é", 100_000)
	var b strings.Builder
	if err := (export.CEF{Product: product}).Write(&b, e); err != nil {
		t.Fatal(err)
	}
	_, msg, _ := strings.Cut(b.String(), " msg=")
	msg, _, _ = strings.Cut(msg, " cs1Label=")
	if n := len([]rune(msg)); n != 1023 {
		t.Errorf("msg has %d characters, want 1023", n)
	}
}

// TestOTLP checks the JSON mapping of Protocol Buffers: 64-bit integers are strings,
// enums are numbers, members are in lowerCamelCase, and an AnyValue has one field.
func TestOTLP(t *testing.T) {
	o := &export.OTLP{Product: product, Mask: mask}
	var b strings.Builder
	for range 300 {
		if err := o.Add(&b, entry()); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Flush(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d requests, want 2", len(lines))
	}
	var r struct {
		ResourceLogs []struct {
			Resource  struct{ Attributes []map[string]any }
			ScopeLogs []struct {
				Scope      map[string]string
				LogRecords []map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil {
		t.Fatal(err)
	}
	records := r.ResourceLogs[0].ScopeLogs[0].LogRecords
	if len(records) != 256 {
		t.Errorf("%d records in the first request, want 256", len(records))
	}
	got := records[0]
	want := map[string]any{
		"timeUnixNano": "1795341600123000000", "observedTimeUnixNano": "1795341600123000000", "severityNumber": 13.0, "severityText": "WARN",
		"eventName": "zeph.tool_call",
		"body":      map[string]any{"stringValue": "bash: echo 'a|b' = \\ [REDACTED]\necho \x1b[2J"},
	}
	attributes := map[string]any{}
	for _, a := range got["attributes"].([]any) {
		a := a.(map[string]any)
		if v := a["value"].(map[string]any); len(v) != 1 {
			t.Errorf("%v has %d values, want 1", a["key"], len(v))
		}
		attributes[a["key"].(string)] = a["value"]
	}
	delete(got, "attributes")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for key, want := range map[string]map[string]any{
		"process.exit.code": {"intValue": "1"}, "zeph.duration_ms": {"intValue": "1099511627776"}, "zeph.truncated": {"boolValue": false},
		"zeph.waited_ms": {"intValue": "7"}, "zeph.filters": {"stringValue": "go-test pytest"}, "zeph.reason": {"stringValue": "not = now"},
		"zeph.gates": {"stringValue": "policy=allow guard=deny"}, "zeph.hooks": {"stringValue": "PreToolUse: lint.sh"}, "session.id": {"stringValue": "s=1"},
	} {
		if diff := cmp.Diff(any(want), attributes[key]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", key, diff)
		}
	}
	if strings.Contains(b.String(), "hunter2") || strings.Contains(b.String(), "\x1b") {
		t.Error("a secret or a control character is in the output")
	}
}
