package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/anomaly"
	"github.com/zeph-acp/zeph-acp/executors/authorize"
	"github.com/zeph-acp/zeph-acp/executors/hooks"
	"github.com/zeph-acp/zeph-acp/executors/infoflow"
	"github.com/zeph-acp/zeph-acp/executors/trust"
	"github.com/zeph-acp/zeph-acp/executors/utility"
)

func newAudit(f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show, count, report, verify or export the record of all tool calls",
		Long: `Show, count, report, verify or export the record of all tool calls, also while an agent
runs.

The record is in audit.jsonl, and older lines in audit.jsonl.1, under ZEPH_HOME or
in the state directory.`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError(`want "audit show", "audit stats", "audit report", "audit verify" or "audit export": try %q`, cmd.CommandPath()+" --help")
		},
	}
	cmd.AddCommand(newAuditShow(f), newAuditStats(f), newAuditReport(f), newAuditExport(f), &cobra.Command{
		Use:   "verify",
		Short: "Check that no line of the record was changed, added, removed or moved",
		Long: `Check that no line of the record was changed, added, removed or moved. If one was,
the first such line is named, and the exit status is 1.

Lines missing at the end and a wholly rewritten record cannot be detected this
way. To detect them, keep the last hash elsewhere and compare it later.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return withAudit(cmd, f, verifyAudit) },
	})
	return cmd
}

// withAudit runs do with the log. It needs no configuration, which may contain
// mistakes.
func withAudit(cmd *cobra.Command, f *flags, do func(cmd *cobra.Command, l *audit.Log) error) error {
	l := audit.New(config.FindPaths(f.getenv).State, audit.Config{Enabled: true}, nil)
	if l == nil {
		return errors.New("nothing is recorded here: there is no home directory; set ZEPH_HOME")
	}
	if err := l.Recover(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "zeph-acp: warning: calls of a killed agent are not shown: %s\n", oneLine(err.Error()))
	}
	return do(cmd, l)
}

// noCalls returns a message that there are no calls to show.
func noCalls(cmd *cobra.Command, wanted callFilter) error {
	text := "No such call is on record."
	if wanted == (callFilter{}) {
		text = "No call is on record yet."
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), text)
	return err
}

// callFilter selects lines of the log.
type callFilter struct {
	session string // prefix of its id; "" selects all
	tool    string // "" selects all
	failed  bool   // only calls that did not succeed
	gate    string // that gave a verdict; "" selects all
	phase   string // "" selects all
	hook    string // part of the command of a hook that ran; "" selects all
	mcp     string // the MCP server of the tool; "" selects all
	since   since
}

// register adds the flags that select calls.
func (c *callFilter) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&c.session, "session", "", "only sessions whose id begins with `ID`")
	fs.StringVar(&c.tool, "tool", "", "only calls of `TOOL`")
	fs.BoolVar(&c.failed, "failed", false, "only calls that did not succeed")
	fs.StringVar(&c.gate, "gate", "", "only calls that `GATE` judged; GATE=DECISION, such as policy=deny, only with that verdict")
	fs.StringVar(&c.phase, "phase", "", "only calls of `PHASE`: planner, executor, verifier or autonomous")
	fs.StringVar(&c.hook, "hook", "", "only calls for which a hook ran whose command has `TEXT`")
	fs.Var(&c.since, "since", "only calls since `WHEN`: an age such as 12h, 7d or 4w, or a date such as 2026-11-20")
	fs.StringVar(&c.mcp, "mcp", "", "only calls of tools of the MCP server `NAME`")
}

// gateNames are the gates in their order, as the log calls them.
var gateNames = []string{
	"guard", authorize.PolicyGate, authorize.AuthorizationGate, hooks.Gate, adversarial.Name, trust.Name, infoflow.Name, anomaly.Name, utility.Name, "delegation", "auto_judge",
}

// check returns an error for a value that no call can have.
func (c callFilter) check() error {
	gate, decision, exact := strings.Cut(c.gate, "=")
	for _, flag := range []struct {
		name, value string
		used        bool
		values      []string
	}{
		{"--gate", gate, c.gate != "", gateNames},
		{"--gate " + gate + "=", decision, exact, []string{string(executors.Allow), string(executors.Ask), string(executors.Deny)}},
		{"--phase", c.phase, c.phase != "", []string{executors.PhasePlanner.String(), executors.PhaseExecutor.String(), executors.PhaseVerifier.String(), executors.PhaseAutonomous.String()}},
	} {
		if flag.used && !slices.Contains(flag.values, flag.value) {
			return usageError("%s %q: want %s", flag.name, flag.value, strings.Join(flag.values, ", "))
		}
	}
	return nil
}

func (c callFilter) wants(e *audit.Entry) bool {
	return !e.When().Before(c.since.Time) && strings.HasPrefix(e.Session, c.session) && (c.tool == "" || e.Tool == c.tool) && (!c.failed || e.Result != audit.Success) &&
		(c.phase == "" || e.Phase == c.phase) && (c.mcp == "" || e.MCPServer == c.mcp) && c.wantsGate(e) && c.wantsHook(e)
}

// since is a time as a flag. Its zero value is before all calls.
type since struct{ time.Time }

// Set parses an age or a date.
func (s *since) Set(text string) error {
	if at, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		s.Time = at
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		s.Time = at
		return nil
	}
	number, unit := text[:max(len(text)-1, 0)], text[max(len(text)-1, 0):]
	hours := map[string]int{"h": 1, "d": 24, "w": 7 * 24}[unit]
	n, err := strconv.ParseUint(number, 10, 13) // at most 157 years
	if err != nil || hours == 0 {
		return fmt.Errorf("want a number with h, d or w, such as 7d, or a date such as 2026-11-20; got %q", text)
	}
	s.Time = time.Now().Add(-time.Duration(n) * time.Duration(hours) * time.Hour)
	return nil
}

// String returns the time; "" for the zero value.
func (s *since) String() string {
	if s.IsZero() {
		return ""
	}
	return s.Format(time.RFC3339)
}

// Type names the value in usage messages.
func (s *since) Type() string { return "time" }

func (c callFilter) wantsGate(e *audit.Entry) bool {
	gate, decision, exact := strings.Cut(c.gate, "=")
	return c.gate == "" || slices.ContainsFunc(e.Gates, func(v executors.Verdict) bool {
		return v.Gate == gate && (!exact || string(v.Decision) == decision)
	})
}

func (c callFilter) wantsHook(e *audit.Entry) bool {
	return c.hook == "" || slices.ContainsFunc(e.Hooks, func(h executors.HookRun) bool { return strings.Contains(h.Command, c.hook) })
}

// read passes the selected calls to each, the oldest first, and warns about lines
// that contain no call.
func (c callFilter) read(cmd *cobra.Command, l *audit.Log, each func(line audit.Line) error) error {
	if err := c.check(); err != nil {
		return err
	}
	bad := 0
	err := l.Read(func(line audit.Line) error {
		if line.Err != nil {
			bad++
			return nil
		}
		if !c.wants(&line.Entry) {
			return nil
		}
		return each(line)
	})
	if bad > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "zeph-acp: warning: lines without a call: %d; see \"zeph-acp audit verify\"\n", bad)
	}
	return err
}

func verifyAudit(cmd *cobra.Command, l *audit.Log) error {
	r, err := l.Verify()
	if broken, ok := errors.AsType[*audit.BrokenError](err); ok {
		return fmt.Errorf("the audit log was altered: %w (%d good lines before it)", broken, r.Lines)
	}
	if err != nil {
		return err
	}
	var b strings.Builder
	if r.Lines > 0 {
		fmt.Fprintf(&b, "All lines are intact: %d, from %s to %s.\nLast hash: %s\n", r.Lines, r.First, r.Last, r.Hash)
	}
	if r.Continues {
		b.WriteString("Older lines were deleted.\n")
	}
	if len(r.Torn) > 0 {
		fmt.Fprintf(&b, "Incomplete lines, from crashes of a process or the machine: %s.\n", strings.Join(r.Torn, ", "))
	}
	if b.Len() == 0 {
		return noCalls(cmd, callFilter{})
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), headless.Visible(b.String()))
	return err
}
