package doctor

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// doctorTime limits all checks together.
const doctorTime = 15 * time.Second

// NewCommand returns the command doctor.
func NewCommand(f *cli.Flags) *cobra.Command {
	var asJSON, offline bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether zeph-acp can work here",
		Long: `Check the configuration, the models, the MCP servers, the sandbox, the shell, git, the
database, the audit log and the editors. A line for each says ok, warning or failure, with
a remedy. Each provider is asked for its models, and the MCP servers are started. Nothing is
changed, and no key is printed.

  zeph-acp doctor
  zeph-acp doctor --offline --json

The exit status is 1 if there is a failure.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			d := &Doctor{
				Options: f.Options(cmd), Dir: dir, Offline: offline, Timeout: doctorTime,
				NewApp: func(l *config.Loaded) (*app.App, func()) {
					a := app.New(l, cli.DiscardLog()) // each failure is a finding
					a.Reaper = helper.NewReaper()
					return a, func() { cli.CloseApp(a) }
				},
			}
			return printFindings(cmd.OutOrStdout(), d.Examine(cmd.Context()), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of check, state, text and fix")
	cmd.Flags().BoolVar(&offline, "offline", false, "connect to no server")
	return cmd
}

// printFindings prints the report. It returns an error without a text if there is a
// failure.
func printFindings(w io.Writer, found []Finding, asJSON bool) error {
	var err error
	if asJSON {
		err = cli.WriteJSON(w, found)
	} else {
		_, err = io.WriteString(w, findingsText(found, cli.WidthOf(os.Stdout)()))
	}
	for _, f := range found {
		if err == nil && f.State == Failure {
			return &cli.ExitError{Code: cli.ExitFailure}
		}
	}
	return err
}

// findingsText returns the report, in lines of at most columns; 0 means no limit.
func findingsText(found []Finding, columns int) string {
	var b strings.Builder
	width, count := 0, map[State]int{}
	for _, f := range found {
		width = max(width, len(f.Check))
		count[f.State]++
	}
	const state = len(Failure)
	for _, f := range found {
		label := fmt.Sprintf("%-*s  %-*s  ", state, f.State, width, f.Check)
		b.WriteString(labelled(label, "", cli.OneLine(f.Text), columns))
		if f.State != OK && f.Fix != "" {
			b.WriteString(labelled(strings.Repeat(" ", len(label)), "→ ", cli.OneLine(f.Fix), columns))
		}
	}
	warnings, failures := quantity.Count(count[Warning], "warning"), quantity.Count(count[Failure], "failure")
	fmt.Fprintf(&b, "\n%d ok, %s, %s\n", count[OK], warnings, failures)
	return b.String()
}

// labelled returns a label and right of it a text, wrapped, with a mark before it. If too few
// columns remain there, the text is below the label.
func labelled(label, mark, text string, columns int) string {
	const least, narrow = 40, "  "
	indent, head := strings.Repeat(" ", len(label)), label
	if columns > 0 && columns < len(label)+least {
		indent, head = narrow, narrow
		if label = strings.TrimRight(label, " "); label != "" {
			head = label + "\n" + narrow
		}
	}
	under := indent + strings.Repeat(" ", layout.Columns(mark))
	return head + mark + strings.Join(cli.WrapLine(text, columns-len(under)), "\n"+under) + "\n"
}
