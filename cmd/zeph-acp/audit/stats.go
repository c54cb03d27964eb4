package audit

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

func newStats(f *cli.Flags) *cobra.Command {
	var wanted callFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Count the calls by tool, with their results and durations",
		Example: "  zeph-acp audit stats --since 7d",
		Long: `Count calls by tool: how they ended and how long they took. The times do not include
waiting for your answers.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd, f, func(l *audit.Log) error {
				counts := summary.NewCounts()
				err := wanted.read(cmd, l, func(line audit.Line) error {
					counts.Add(&line.Entry)
					return nil
				})
				if err != nil {
					return err
				}
				counts.Finish()
				out := cmd.OutOrStdout()
				switch {
				case asJSON:
					return cli.WriteJSON(out, counts)
				case counts.All.Calls == 0:
					return printNoCalls(cmd, wanted)
				case cli.IsTerminal(os.Stdout):
					return writeStats(out, counts, cli.Columns())
				}
				return writeStats(out, counts, 0)
			})
		},
	}
	wanted.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// writeStats prints a table, or a list if the table needs more columns than width; 0
// means that any width fits.
func writeStats(out io.Writer, c *summary.Counts, width int) error {
	text := statsTable(c)
	if width > 0 && slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return layout.Columns(line) > width }) {
		text = statsList(c, width)
	}
	from, to := "From "+cli.OneLine(c.First), "to "+cli.OneLine(c.Last)+"."
	between := " "
	if width > 0 && layout.Columns(from+between+to) > width {
		between = "\n"
	}
	_, err := fmt.Fprintf(out, "%s\n%s%s%s\n", text, from, between, to)
	return err
}

// eachStats calls each for every tool, sorted by name, and then for the sum of all tools.
func eachStats(c *summary.Counts, each func(name string, calls *summary.Calls)) {
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		each(cli.OneLine(name), c.Tools[name])
	}
	each("all", c.All)
}

// outcomeColumns are the columns about outcomes. Each adds up one or more of them.
var outcomeColumns = []struct {
	name     string
	outcomes []audit.Outcome
}{
	{"success", []audit.Outcome{audit.Success}},
	{"failed", []audit.Outcome{audit.Failed, audit.RolledBack}},
	{"denied", []audit.Outcome{audit.Denied}},
	{"timeout", []audit.Outcome{audit.TimedOut}},
	{"cancelled", []audit.Outcome{audit.Cancelled, audit.Interrupted}},
}

// statsTable returns the counts as a table.
func statsTable(c *summary.Counts) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "calls\t")
	for _, o := range outcomeColumns {
		fmt.Fprintf(w, "%s\t", o.name)
	}
	fmt.Fprintln(w, "median\tmax\t  tool")
	eachStats(c, func(name string, t *summary.Calls) {
		fmt.Fprintf(w, "%d\t", t.Calls)
		for _, o := range outcomeColumns {
			fmt.Fprintf(w, "%d\t", t.Sum(o.outcomes...))
		}
		fmt.Fprintf(w, "%s\t%s\t  %s\n", milliseconds(t.Median), milliseconds(t.Max), name)
	})
	_ = w.Flush() // to memory
	return b.String()
}

// statsList returns the counts in two or three lines for each tool, without zeros.
func statsList(c *summary.Counts, width int) string {
	var b strings.Builder
	eachStats(c, func(name string, t *summary.Calls) {
		calls := quantity.Count(t.Calls, "call")
		fmt.Fprintf(&b, "%s  %s\n", cli.Pad(layout.Cut(name, width-layout.Columns(calls)-2), width-layout.Columns(calls)-2), calls)
		var parts []string
		for _, o := range outcomeColumns {
			if n := t.Sum(o.outcomes...); n > 0 {
				parts = append(parts, fmt.Sprintf("%s %d", o.name, n))
			}
		}
		parts = append(parts, "median "+milliseconds(t.Median), "max "+milliseconds(t.Max))
		for _, line := range cli.JoinLines(parts, width-2) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	})
	return b.String()
}

// milliseconds formats a duration in milliseconds.
func milliseconds(n int64) string { return shortDuration(time.Duration(n) * time.Millisecond) }
