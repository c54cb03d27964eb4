// Package audit is the command "zeph-acp audit", which shows, counts, reports, verifies and
// exports the audit log.
package audit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// NewCommand returns the command audit.
func NewCommand(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show, count, report, verify or export the audit log of tool calls",
		Long: `Show, count, report, verify or export the audit log of all tool calls, even while an
agent runs.

The log is audit.jsonl, with older lines in audit.jsonl.1, under ZEPH_HOME or in the
state directory.`,
		Args: cli.NoCommand,
		RunE: cli.NeedsCommand,
	}
	cmd.AddCommand(newShow(f), newStats(f), newReport(f), newExport(f), &cobra.Command{
		Use:     "verify",
		Short:   "Check that no line of the record was changed, added, removed or moved",
		Example: "  zeph-acp audit verify   # exits with 1 if a line is not as it was written",
		Long: `Check that no line of the record was changed, added, removed or moved. If one was,
the first such line is named, and the exit status is 1.

Lines missing at the end and a wholly rewritten record cannot be detected this
way. To detect them, keep the last hash elsewhere and compare it later.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd, f, func(l *audit.Log) error { return verifyAudit(cmd, l) })
		},
	})
	return cmd
}

// withAudit runs do with the log. It needs no configuration, which may contain
// mistakes.
func withAudit(cmd *cobra.Command, f *cli.Flags, do func(l *audit.Log) error) error {
	l := audit.New(config.FindPaths(f.Getenv).State, audit.Config{Enabled: true}, nil)
	if l == nil {
		return errors.New("nothing is recorded here: there is no home directory; set ZEPH_HOME")
	}
	if err := l.Recover(); err != nil {
		cli.Warnf(cmd, "calls of a killed agent are not shown: %s", cli.OneLine(err.Error()))
	}
	return do(l)
}

// printNoCalls prints to stderr that there are no calls to show.
func printNoCalls(cmd *cobra.Command, wanted callFilter) error {
	text := "No such call is on record."
	if wanted == (callFilter{}) {
		text = "No call is on record yet."
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), text)
	return err
}

// verifyAudit prints whether the record is intact.
func verifyAudit(cmd *cobra.Command, l *audit.Log) error {
	r, err := l.Verify()
	if broken, ok := errors.AsType[*audit.BrokenError](err); ok {
		return fmt.Errorf("the audit log was altered: %w (%s before it)", broken, quantity.Count(r.Lines, "good line"))
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
		return printNoCalls(cmd, callFilter{})
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), headless.Visible(b.String()))
	return err
}
