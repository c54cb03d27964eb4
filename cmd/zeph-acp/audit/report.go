package audit

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
)

func newReport(f *cli.Flags) *cobra.Command {
	var wanted callFilter
	var asPage bool
	var file string
	cmd := &cobra.Command{
		Use:   "report --html",
		Short: "Write a page about the recorded calls",
		Long: `Write a page about the recorded calls, which any browser shows without a network: calls
by tool, result and day, denials with their rules, your decisions, how long calls took
without waiting for you, savings by filter rule, and whether the audit log is intact.
Credentials are masked.`,
		Example: "  zeph-acp audit report --html --since 7d -o report.html",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !asPage {
				return cli.Usagef("want --html: try %q", cmd.CommandPath()+" --html -o report.html")
			}
			return withAudit(cmd, f, func(l *audit.Log) error { return reportAudit(cmd, l, wanted, file) })
		},
	}
	wanted.register(cmd)
	cmd.Flags().BoolVar(&asPage, "html", false, "write a page for a browser")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to the new file `FILE` instead of stdout")
	return cmd
}

// reportAudit writes the page about the selected calls.
func reportAudit(cmd *cobra.Command, l *audit.Log, wanted callFilter, file string) error {
	r := summary.NewReport(time.Local, cli.MaskFunc(nil))
	r.Since = wanted.since.Time
	err := wanted.read(cmd, l, func(line audit.Line) error {
		r.Add(&line.Entry)
		return nil
	})
	if err != nil {
		return err
	}
	if r.All.Calls == 0 {
		return printNoCalls(cmd, wanted)
	}
	r.Finish()
	if r.State, err = logState(l); err != nil {
		return err
	}
	return cli.WriteNew(cmd, file, "the report", func(w io.Writer) error { return r.HTML(w, "zeph-acp "+app.Version) })
}

// logState returns the state of the whole log, even if only some calls were selected.
func logState(l *audit.Log) (summary.State, error) {
	v, err := l.Verify()
	if broken, ok := errors.AsType[*audit.BrokenError](err); ok {
		text := fmt.Sprintf("The log was altered at %s: %s. Lines before it that are intact: %d.", broken.Pos, broken.Why, v.Lines)
		return summary.State{Text: text}, nil
	}
	if err != nil {
		return summary.State{}, err
	}
	text := fmt.Sprintf("All lines of the log are intact: %d. Last hash: %s.", v.Lines, v.Hash)
	if v.Continues {
		text += " Older lines were deleted."
	}
	if n := len(v.Torn); n > 0 {
		text += fmt.Sprintf(" Incomplete lines, from crashes: %d.", n)
	}
	return summary.State{Intact: true, Text: text}, nil
}
