package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
)

func newAuditStats(f *flags) *cobra.Command {
	var wanted callFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count calls by tool: how they ended, how long they took",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd, f, func(cmd *cobra.Command, l *audit.Log) error {
				s := auditStats{Tools: map[string]*toolStats{}, All: newToolStats()}
				if err := wanted.read(cmd, l, s.add); err != nil {
					return err
				}
				s.finish()
				if asJSON {
					enc := json.NewEncoder(jsonOutput{cmd.OutOrStdout()})
					enc.SetEscapeHTML(false)
					enc.SetIndent("", "  ")
					return enc.Encode(s)
				}
				if s.All.Calls == 0 {
					return noCalls(cmd, wanted)
				}
				return s.text(cmd.OutOrStdout())
			})
		},
	}
	wanted.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// auditStats are the counts of many calls.
type auditStats struct {
	First string                `json:"first,omitempty"` // timestamps
	Last  string                `json:"last,omitempty"`
	All   *toolStats            `json:"all"`
	Tools map[string]*toolStats `json:"tools"`
}

// toolStats are the counts of one tool's calls.
type toolStats struct {
	Calls   int                   `json:"calls"`
	Results map[audit.Outcome]int `json:"results"`
	Median  int64                 `json:"median_ms"`
	Max     int64                 `json:"max_ms"`
	Total   int64                 `json:"total_ms"`

	took []int64
}

func newToolStats() *toolStats { return &toolStats{Results: map[audit.Outcome]int{}} }

func (s *auditStats) add(line audit.Line) error {
	e := &line.Entry
	if s.Last = e.Timestamp; s.First == "" {
		s.First = e.Timestamp
	}
	if s.Tools[e.Tool] == nil {
		s.Tools[e.Tool] = newToolStats()
	}
	s.Tools[e.Tool].add(e)
	s.All.add(e)
	return nil
}

func (s *toolStats) add(e *audit.Entry) {
	s.Calls++
	s.Results[e.Result]++
	s.Total += e.DurationMS
	s.took = append(s.took, e.DurationMS)
}

func (s *auditStats) finish() {
	s.All.finish()
	for _, t := range s.Tools {
		t.finish()
	}
}

func (s *toolStats) finish() {
	if len(s.took) > 0 {
		slices.Sort(s.took)
		s.Median, s.Max = s.took[len(s.took)/2], s.took[len(s.took)-1]
	}
}

// text prints a table. It counts a call that was rolled back as failed, and one
// that was interrupted as cancelled.
func (s *auditStats) text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calls\tsuccess\tfailed\tdenied\ttimeout\tcancelled\tmedian\tmax\t  tool")
	row := func(name string, t *toolStats) {
		n := t.Results
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t  %s\n", t.Calls, n[audit.Success], n[audit.Failed]+n[audit.RolledBack],
			n[audit.Denied], n[audit.TimedOut], n[audit.Cancelled]+n[audit.Interrupted], milliseconds(t.Median), milliseconds(t.Max), name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		row(oneLine(name), s.Tools[name])
	}
	row("all", s.All)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nFrom %s to %s.\n", oneLine(s.First), oneLine(s.Last))
	return err
}

func milliseconds(n int64) string { return shortDuration(time.Duration(n) * time.Millisecond) }
