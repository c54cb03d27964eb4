package audit

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/gates/anomaly"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/executors/gates/utility"
)

// callFilter selects lines of the log.
type callFilter struct {
	session string // prefix of its id; "" selects all
	tool    string // "" selects all
	failed  bool   // only calls that did not succeed
	gate    string // GATE or GATE=DECISION, of a verdict; "" selects all
	phase   string // "" selects all
	hook    string // part of the command of a hook that ran; "" selects all
	mcp     string // the MCP server of the tool; "" selects all
	since   cli.SinceFlag
}

// register adds the flags that select calls.
func (c *callFilter) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&c.session, "session", "", "only sessions whose id begins with `ID`")
	fs.StringVar(&c.tool, "tool", "", "only calls of `TOOL`")
	fs.BoolVar(&c.failed, "failed", false, "only calls that did not succeed")
	fs.StringVar(&c.gate, "gate", "", "only calls that `GATE` checked; GATE=DECISION, such as policy=deny, only with that verdict")
	fs.StringVar(&c.phase, "phase", "", "only calls of `PHASE`: planner, executor, verifier or autonomous")
	fs.StringVar(&c.hook, "hook", "", "only calls that ran a hook whose command contains `TEXT`")
	fs.Var(&c.since, "since", "only calls since `WHEN`: an age such as 12h, 7d or 4w, or a date such as 2026-11-20")
	fs.StringVar(&c.mcp, "mcp", "", "only calls of tools of the MCP server `NAME`")
}

// GateNames are the gates in their order, as the log calls them.
var GateNames = []string{
	"guard",
	rules.PolicyGate,
	rules.AuthorizationGate,
	hooks.Gate,
	adversarial.Name,
	trust.Name,
	flow.Name,
	anomaly.Name,
	utility.Name,
	"delegation",
	"auto_judge",
}

// check returns an error for a value that no call can have.
func (c callFilter) check() error {
	gate, decision, exact := strings.Cut(c.gate, "=")
	decisions := []string{string(executors.Allow), string(executors.Ask), string(executors.Deny)}
	phases := []string{
		executors.PhasePlanner.String(),
		executors.PhaseExecutor.String(),
		executors.PhaseVerifier.String(),
		executors.PhaseAutonomous.String(),
	}
	for _, flag := range []struct {
		name, value string
		used        bool
		values      []string
	}{
		{"--gate", gate, c.gate != "", GateNames},
		{"--gate " + gate + "=", decision, exact, decisions},
		{"--phase", c.phase, c.phase != "", phases},
	} {
		if flag.used && !slices.Contains(flag.values, flag.value) {
			return cli.Usagef("%s %q: want %s", flag.name, flag.value, strings.Join(flag.values, ", "))
		}
	}
	return nil
}

// wants reports whether the filter selects a call.
func (c callFilter) wants(e *audit.Entry) bool {
	return !e.When().Before(c.since.Time) &&
		strings.HasPrefix(e.Session, c.session) &&
		(c.tool == "" || e.Tool == c.tool) &&
		(!c.failed || e.Result != audit.Success) &&
		(c.phase == "" || e.Phase == c.phase) &&
		(c.mcp == "" || e.MCPServer == c.mcp) &&
		c.wantsGate(e) &&
		c.wantsHook(e)
}

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
		cli.Warnf(cmd, `lines without a call: %d; see "zeph-acp audit verify"`, bad)
	}
	return err
}
