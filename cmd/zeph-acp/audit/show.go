package audit

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
)

func newShow(f *cli.Flags) *cobra.Command {
	var wanted callFilter
	var last int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the recorded calls, the newest last",
		Example: `  zeph-acp audit show
  zeph-acp audit show --tool bash --since 24h`,
		Long: `Show the recorded calls, the newest last: time, session, tool, result, duration,
decision and rule, what was called, and why it did not succeed.

In a terminal lines are cut to its width; a narrow one gets three lines for a call.
Elsewhere each line has these fields in full, separated by tabs: time in UTC, session,
tool, result, exit code or "-", milliseconds, what was called, why it did not succeed,
decision or "-", and rule. The decision is "allow", "ask" or "deny", and the user's
answer in parentheses.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last < 0 {
				return cli.Usagef("-n %d: want a number of calls, or 0 for all", last)
			}
			return withAudit(cmd, f, func(l *audit.Log) error {
				format := auditLine
				switch {
				case asJSON:
					format = auditJSON
				case cli.IsTerminal(os.Stdout):
					width := cli.Columns()
					format = func(line audit.Line) string { return auditScreen(&line.Entry, width) }
				}
				return showAudit(cmd, l, wanted, last, format)
			})
		},
	}
	wanted.register(cmd)
	cmd.Flags().IntVarP(&last, "last", "n", 0, "show only the last `N` calls")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines of the log unchanged")
	return cmd
}

// showAudit prints the newest selected calls, at most last of them; 0 prints all.
func showAudit(cmd *cobra.Command, l *audit.Log, wanted callFilter, last int, format func(audit.Line) string) error {
	w := bufio.NewWriter(cmd.OutOrStdout())
	n := 0
	var kept []string // at most last lines
	err := wanted.read(cmd, l, func(line audit.Line) (err error) {
		n++
		if last == 0 {
			_, err = w.WriteString(format(line))
			return err
		}
		if kept = append(kept, format(line)); len(kept) > last {
			kept = kept[1:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n == 0 {
		return printNoCalls(cmd, wanted)
	}
	for _, text := range kept {
		if _, err := w.WriteString(text); err != nil {
			return err
		}
	}
	return w.Flush()
}

// auditJSON returns the line unchanged, except that control characters are escaped.
func auditJSON(line audit.Line) string {
	var b strings.Builder
	_, _ = cli.JSONWriter{W: &b}.Write(line.Text) // to memory
	return b.String() + "\n"
}

// auditLine formats a call for programs that read lines.
func auditLine(line audit.Line) string {
	e := &line.Entry
	code := "-"
	if e.ExitCode != nil {
		code = fmt.Sprint(*e.ExitCode)
	}
	fields := []string{
		e.Timestamp,
		e.Session,
		e.Tool,
		string(e.Result),
		code,
		fmt.Sprint(e.DurationMS),
		summary.Subject(e),
		failureReason(e),
		decisionOf(e),
		e.Rule,
	}
	for i, f := range fields {
		fields[i] = cli.OneLine(f)
	}
	return strings.Join(fields, "\t") + "\n"
}

// minTable is the least width of a terminal, in columns, for one line a call.
const minTable = 110

// auditScreen formats a call for a person; a line of the terminal has width columns.
func auditScreen(e *audit.Entry, width int) string {
	result := string(e.Result)
	if e.ExitCode != nil && *e.ExitCode != 0 {
		result = fmt.Sprintf("%s (%d)", result, *e.ExitCode)
	}
	took := shortDuration(time.Duration(e.DurationMS) * time.Millisecond)
	text := cli.OneLine(summary.Subject(e))
	if why := failureReason(e); why != "" {
		text += "  (" + cli.OneLine(why) + ")"
	}
	decided := cli.OneLine(decisionOf(e))
	if e.Rule != "" {
		decided += ": " + cli.OneLine(e.Rule)
	}
	var b strings.Builder
	if width < minTable {
		at := e.When().Local().Format("01-02 15:04")
		head := fmt.Sprintf("%s  %s  %s  %s  %s", at, cli.OneLine(e.Tool), cli.OneLine(result), took, cli.OneLine(e.Session))
		for i, line := range []string{head, text, decided} {
			indent := []string{"", "  "}[min(i, 1)]
			b.WriteString(indent + layout.Cut(line, width-len(indent)) + "\n")
		}
		return b.String()
	}
	column := func(text string, n int) { b.WriteString(cli.Pad(layout.Cut(text, n), n) + "  ") }
	column(e.When().Local().Format("2006-01-02 15:04:05"), 19)
	column(cli.OneLine(e.Session), 8)
	column(cli.OneLine(e.Tool), 14)
	column(cli.OneLine(result), 12)
	fmt.Fprintf(&b, "%7s  ", took)
	column(decided, (width-72)*2/5)
	return b.String() + layout.Cut(text, width-layout.Columns(b.String())) + "\n"
}

// decisionOf returns the decision about a call and the user's answer; "-" if there was
// none.
func decisionOf(e *audit.Entry) string {
	if e.Answer == "" {
		return cmp.Or(e.Decision, "-")
	}
	return fmt.Sprintf("%s (%s)", cmp.Or(e.Decision, "-"), e.Answer)
}

// failureReason returns why a call did not succeed, if its rule does not say so.
func failureReason(e *audit.Entry) string {
	if e.Result == audit.Success || e.Result == audit.Denied && e.Rule != "" {
		return ""
	}
	return e.Error
}

// shortDuration formats a duration in few columns.
func shortDuration(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	if d >= time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.String()
}
