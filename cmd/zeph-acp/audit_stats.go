package main

import (
	"encoding/json"
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
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/executors"
)

func newAuditStats(f *flags) *cobra.Command {
	var wanted callFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count calls by tool: how they ended, how long they took",
		Long: `Count calls by tool: how they ended, how long they took. The times do not include
the waiting for answers of people.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd, f, func(cmd *cobra.Command, l *audit.Log) error {
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
					enc := json.NewEncoder(jsonOutput{out})
					enc.SetEscapeHTML(false)
					enc.SetIndent("", "  ")
					return enc.Encode(counts)
				case counts.All.Calls == 0:
					return noCalls(cmd, wanted)
				case isTerminal(os.Stdout):
					return writeStats(out, counts, columns())
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
	if width > 0 && slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return cells(line) > width }) {
		text = statsList(c, width)
	}
	from, to := "From "+oneLine(c.First), "to "+oneLine(c.Last)+"."
	between := " "
	if width > 0 && cells(from+between+to) > width {
		between = "\n"
	}
	_, err := fmt.Fprintf(out, "%s\n%s%s%s\n", text, from, between, to)
	return err
}

// eachStats calls a function for each tool by name, and then for all of them.
func eachStats(c *summary.Counts, each func(name string, calls *summary.Calls)) {
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		each(oneLine(name), c.Tools[name])
	}
	each("all", c.All)
}

// statsTable counts a call that was rolled back as failed, and one that was interrupted
// as cancelled.
func statsTable(c *summary.Counts) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calls\tsuccess\tfailed\tdenied\ttimeout\tcancelled\tmedian\tmax\t  tool")
	eachStats(c, func(name string, t *summary.Calls) {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t  %s\n", t.Calls, t.Sum(audit.Success), t.Sum(audit.Failed, audit.RolledBack),
			t.Sum(audit.Denied), t.Sum(audit.TimedOut), t.Sum(audit.Cancelled, audit.Interrupted), milliseconds(t.Median), milliseconds(t.Max), name)
	})
	_ = w.Flush() // to memory
	return b.String()
}

// statsList has two or three lines for each tool, and leaves out zeros.
func statsList(c *summary.Counts, width int) string {
	var b strings.Builder
	eachStats(c, func(name string, t *summary.Calls) {
		calls := executors.Count(t.Calls, "call")
		fmt.Fprintf(&b, "%s  %s\n", padded(fitWidth(name, width-cells(calls)-2), width-cells(calls)-2), calls)
		var parts []string
		for _, p := range []struct {
			name string
			n    int
		}{
			{"success", t.Sum(audit.Success)}, {"failed", t.Sum(audit.Failed, audit.RolledBack)}, {"denied", t.Sum(audit.Denied)},
			{"timeout", t.Sum(audit.TimedOut)}, {"cancelled", t.Sum(audit.Cancelled, audit.Interrupted)},
		} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%s %d", p.name, p.n))
			}
		}
		parts = append(parts, "median "+milliseconds(t.Median), "max "+milliseconds(t.Max))
		for _, line := range joinedLines(parts, width-2) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	})
	return b.String()
}

// joinedLines joins parts by commas into lines of at most width columns.
func joinedLines(parts []string, width int) (lines []string) {
	for _, p := range parts {
		last := len(lines) - 1
		if last >= 0 && cells(lines[last]+", "+p) <= width {
			lines[last] += ", " + p
		} else {
			lines = append(lines, p)
		}
	}
	return lines
}

func milliseconds(n int64) string { return shortDuration(time.Duration(n) * time.Millisecond) }
