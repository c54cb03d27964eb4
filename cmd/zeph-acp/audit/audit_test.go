package audit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// auditHome returns a home directory with a log of some calls.
func auditHome(t *testing.T) (dir string) {
	dir = t.TempDir()
	t.Setenv("ZEPH_HOME", dir)
	l := audit.New(dir, setting.Default[audit.Config](), nil)
	for _, c := range []struct {
		session, tool, command string
		category               executors.Category
		code                   int
	}{
		{"aaaa-1", "bash", "go test ./...", "", 0},
		{"aaaa-1", "bash", "false", "", 1},
		{"aaaa-2", "read", "", "", 0},
		{"bbbb-1", "bash", "evil \x1b]0;x\a\u009b\u202e\n2", executors.PolicyBlocked, -1},
	} {
		tool := executors.Registry{executors.Bind(executors.Tool{Name: c.tool, Kind: executors.KindExecute},
			nil, func(_ context.Context, call *executors.Call, _ *struct{}) (executors.Result, error) {
				if c.category != "" {
					call.Record.Add(executors.Verdict{Gate: executors.PermissionGate, Rule: "rule\t\x1b[2J"})
					return executors.Failf(c.category, "no"), nil
				}
				call.Record.ExitCode = &c.code
				call.Record.Add(executors.Verdict{Gate: executors.UserGate, Decision: executors.Allow, Rule: "you", Answer: "allow_once"})
				return executors.Result{Text: "x", Failed: c.code != 0}, nil
			})}
		call := &executors.Call{ID: "1", Tool: c.tool, Session: c.session, Attempt: 1, Input: json.RawMessage(`{"path":"a"}`)}
		call.Card.Script = command.Parse(c.command, command.Shell{})
		if _, err := executors.Chain(tool, audit.Middleware(l)).Execute(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// auditSays runs a command in this process and returns its output.
func auditSays(t *testing.T, args ...string) (stdout, stderr string, err error) {
	root := &cobra.Command{Use: "zeph-acp", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(NewCommand(&cli.Flags{Environ: os.Environ()}))
	var out, errs strings.Builder
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"audit"}, args...))
	err = root.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

func TestAuditShow(t *testing.T) {
	auditHome(t)
	const (
		test  = "aaaa-1\tbash\tsuccess\t0\t_\tgo test ./...\t\tallow (allow_once)\tyou"
		fails = "aaaa-1\tbash\tfailed\t1\t_\tfalse\t\tallow (allow_once)\tyou"
		read  = "aaaa-2\tread\tsuccess\t0\t_\t{\"path\":\"a\"}\t\tallow (allow_once)\tyou"
		evil  = "bbbb-1\tbash\tdenied\t-\t_\tevil <U+001B>]0;x<U+0007><U+009B><U+202E><U+000A>2\t\t-\trule<U+0009><U+001B>[2J"
	)
	for args, want := range map[string][]string{
		"":                           {test, fails, read, evil},
		"-n 1":                       {evil},
		"-n 9":                       {test, fails, read, evil},
		"--failed":                   {fails, evil},
		"--failed -n 1 --tool bash":  {evil},
		"--session aaaa":             {test, fails, read},
		"--session aaaa-1 --last 1":  {fails},
		"--tool read":                {read},
		"--tool read --session bbbb": nil,
	} {
		stdout, stderr, err := auditSays(t, append([]string{"show"}, strings.Fields(args)...)...)
		var got []string
		for line := range strings.Lines(stdout) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) != 10 {
				t.Fatalf("show %s: %q has %d fields, want 10", args, line, len(fields))
			}
			fields[5] = "_" // milliseconds
			got = append(got, strings.Join(fields[1:], "\t"))
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || (stderr != "") != (want == nil) {
			t.Errorf("show %s: %v, stderr %q, calls (-want +got)\n%s", args, err, stderr, diff)
		}
	}
	stdout, _, err := auditSays(t, "show", "--json", "--failed")
	if err != nil || strings.Count(stdout, "\n") != 2 || strings.ContainsAny(stdout, "\x1b\u009b\u202e") {
		t.Errorf("show --json: %v, want two lines without control characters in %q", err, stdout)
	}
	for line := range strings.Lines(stdout) {
		var e audit.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Tool != "bash" {
			t.Errorf("%s is not an entry of bash: %v", line, err)
		}
	}
	if _, _, err := auditSays(t, "show", "-n", "-1"); err == nil {
		t.Error("a negative number of calls is accepted")
	}
}

func TestAuditScreen(t *testing.T) {
	code := 2
	e := audit.Entry{
		Timestamp: "nothing", Session: "0123456789", Tool: "a_tool_with_a_long_name", Result: audit.Failed, ExitCode: &code,
		DurationMS: 65_432, Command: "日本\x1b\n" + strings.Repeat("x", 100), Error: "because",
	}
	e.Decision, e.Rule, e.Answer = "allow", "the user\u202e allowed it", "allow_once"
	got := auditScreen(&e, 120)
	want := "  0123456…  a_tool_with_a…  failed (2)       1m5s  allow (allow_once)…  日本<U+001B><U+000A>"
	if !strings.Contains(got, want) || layout.Columns(strings.TrimSuffix(got, "\n")) > 120 {
		t.Errorf("got %q, want %q in at most 120 columns", got, want)
	}
	e.Command = "x"
	if got := auditScreen(&e, 120); !strings.HasSuffix(got, "  x  (because)\n") {
		t.Errorf("got %q, want the command and the reason at its end", got)
	}
	for _, width := range []int{40, 80} {
		got := strings.Split(strings.TrimSuffix(auditScreen(&e, width), "\n"), "\n")
		if len(got) != 3 || got[1] != "  x  (because)" || !strings.HasPrefix(got[2], "  allow (allow_once): the user<U+") {
			t.Errorf("%d columns: got %q, want three lines: the call, its command, its decision", width, got)
		}
		for _, line := range got {
			if layout.Columns(line) > width {
				t.Errorf("%d columns: %q is too wide", width, line)
			}
		}
	}
}

func TestAuditStats(t *testing.T) {
	auditHome(t)
	stdout, _, err := auditSays(t, "stats")
	var got []string
	for line := range strings.Lines(stdout) {
		if f := strings.Fields(line); len(f) == 9 {
			got = append(got, strings.Join(append(f[:6:6], f[8]), " "))
		}
	}
	if diff := cmp.Diff([]string{"calls success failed denied timeout cancelled tool", "3 1 1 1 0 0 bash", "1 1 0 0 0 0 read", "4 2 1 1 0 0 all"},
		got); diff != "" || err != nil {
		t.Errorf("stats: %v, rows (-want +got)\n%s\nin\n%s", err, diff, stdout)
	}
	stdout, _, err = auditSays(t, "stats", "--json", "--session", "aaaa-1")
	if err != nil {
		t.Errorf("stats --json: %v", err)
	}
	var s summary.Counts
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || s.All.Calls != 2 || s.Tools["bash"].Results[audit.Failed] != 1 {
		t.Errorf("stats --json: %v, want two calls, one of bash that failed, in %s", err, stdout)
	}
}

// TestAuditStatsNarrow checks that no line is wider than the terminal.
func TestAuditStatsNarrow(t *testing.T) {
	c := summary.NewCounts()
	for i, tool := range []string{"bash", "bash", "server__a_tool_with_a_long_name_日本日本", "read"} {
		c.Add(&audit.Entry{Timestamp: "2026-11-22T10:00:00.000Z", Tool: tool, Result: []audit.Outcome{audit.Success, audit.Denied}[i%2], DurationMS: 65_432,
			WaitedMS: 65_000})
	}
	c.Finish()
	for width, want := range map[int]string{
		0:   "all\n\nFrom 2026-11-22T10:00:00.000Z to 2026-11-22T10:00:00.000Z.",
		120: "all\n\nFrom 2026-11-22T10:00:00.000Z to 2026-11-22T10:00:00.000Z.",
		80:  "bash" + strings.Repeat(" ", 69) + "2 calls\n  success 1, denied 1, median 432ms, max 432ms\n",
		40:  "bash" + strings.Repeat(" ", 29) + "2 calls\n  success 1, denied 1, median 432ms\n  max 432ms\n",
	} {
		var b strings.Builder
		if err := writeStats(&b, c, width); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%d columns: %v, want %q in\n%s", width, err, want, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if width > 0 && layout.Columns(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("%d columns: %q is too wide", width, line)
			}
		}
	}
}

func TestAuditVerify(t *testing.T) {
	file := filepath.Join(auditHome(t), audit.FileName)
	stdout, _, err := auditSays(t, "verify")
	if err != nil || !strings.HasPrefix(stdout, "All lines are intact: 4, from 2") {
		t.Errorf("verify: %v, want 4 intact lines in %s", err, stdout)
	}
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(log, `{"timestamp":"20`...), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := auditSays(t, "show")
	if err != nil || strings.Count(stdout, "\n") != 4 || !strings.Contains(stderr, "lines without a call: 1") {
		t.Errorf("show with half a line: %v, want 4 calls in %q and one line without a call in %q", err, stdout, stderr)
	}
	if stdout, _, err = auditSays(t, "verify"); err != nil || !strings.Contains(stdout, "machine: audit.jsonl:5.") {
		t.Errorf("verify with half a line: %v, want audit.jsonl:5 in %s", err, stdout)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(log), "false", "true!", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if stdout, _, err = auditSays(t, "verify"); err == nil || !strings.Contains(err.Error(), "audit.jsonl:1") || stdout != "" {
		t.Errorf("verify of a changed line: %v and %q, want an error that names audit.jsonl:1", err, stdout)
	}
}

func TestAuditNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "none")
	t.Setenv("ZEPH_HOME", home)
	for _, args := range []string{"show", "stats", "verify"} {
		stdout, stderr, err := auditSays(t, args)
		if err != nil || stdout != "" || stderr != "No call is on record yet.\n" {
			t.Errorf("%s: %v, stdout %q, stderr %q, want only a note that there is no call", args, err, stdout, stderr)
		}
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("a command that only reads made the directory")
	}
	for _, name := range []string{"ZEPH_HOME", "XDG_STATE_HOME", "HOME", "USERPROFILE"} {
		t.Setenv(name, "")
	}
	if _, _, err := auditSays(t, "show"); err == nil || !strings.Contains(err.Error(), "ZEPH_HOME") {
		t.Errorf("show without a directory: %v, want an error that names ZEPH_HOME", err)
	}
}
