package schedule

import (
	"cmp"
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
	"github.com/zeph-acp/zeph-acp/session/store"
)

func newList(f *cli.Flags, s *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tasks, those that are due first",
		Example: "  zeph-acp schedule list",
		Long: `List the tasks, those that are due first: name, time of the next run, cron
expression, outcome of the last run, directory.

Outside of a terminal the fields are separated by tabs, and times are in UTC.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withTasks(cmd, f, func(a *app.App, all []store.Task) error {
				out := cmd.OutOrStdout()
				switch {
				case s.json:
					return tasksJSON(out, all)
				case len(all) == 0:
					_, err := fmt.Fprintln(cmd.ErrOrStderr(), "No task is scheduled.")
					return err
				case cli.IsTerminal(os.Stdout):
					return tasksScreen(out, all, a.Config.Tools.Scheduler.Location(), config.HomeDir(f.Getenv), cli.Columns())
				}
				return tasksLines(out, all)
			})
		},
	}
	cmd.Flags().BoolVar(&s.json, "json", false, "print a JSON array")
	return cmd
}

// taskEntry is a task in JSON.
type taskEntry struct {
	Name    string     `json:"name"`
	CWD     string     `json:"cwd"`
	Cron    string     `json:"cron,omitempty"`
	Next    *time.Time `json:"next"`
	Mode    string     `json:"mode"`
	Model   string     `json:"model,omitempty"` // of the session that set it
	Task    string     `json:"task"`
	Session string     `json:"sessionId"` // that set it
	Runs    []runEntry `json:"runs"`      // the newest first
}

// runEntry is a run in JSON.
type runEntry struct {
	Due     time.Time  `json:"due"`
	Started time.Time  `json:"startedAt"`
	Ended   *time.Time `json:"endedAt"`
	Session string     `json:"sessionId,omitempty"` // of the run
	Outcome string     `json:"outcome,omitempty"`
	Result  string     `json:"result,omitempty"`
}

// orNull returns nil for a zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func entryOf(t store.Task, runs []store.Run) taskEntry {
	e := taskEntry{t.Name, t.CWD, t.Cron, orNull(t.Next), t.Mode, t.Model, t.Prompt, t.Session, []runEntry{}}
	for _, r := range runs {
		e.Runs = append(e.Runs, runEntry{r.Due, r.Started, orNull(r.Ended), r.Session, r.Outcome, r.Result})
	}
	return e
}

// lastRuns returns the newest run of a task, if there is one.
func lastRuns(t store.Task) []store.Run {
	if t.Last.ID == 0 {
		return nil
	}
	return []store.Run{t.Last}
}

func tasksJSON(w io.Writer, all []store.Task) error {
	entries := make([]taskEntry, len(all))
	for i, t := range all {
		entries[i] = entryOf(t, lastRuns(t))
	}
	return cli.WriteJSON(w, entries)
}

// outcomeOf returns how a run ended; "" for no run.
func outcomeOf(r store.Run) string {
	if r.ID != 0 && r.Ended.IsZero() {
		return "running"
	}
	return r.Outcome
}

// tasksLines formats tasks for programs that read lines.
func tasksLines(w io.Writer, all []store.Task) error {
	var b strings.Builder
	for _, t := range all {
		next := ""
		if !t.Next.IsZero() {
			next = t.Next.Format(time.RFC3339)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", cli.OneLine(t.Name), next, cli.OneLine(t.Cron), outcomeOf(t.Last), cli.OneLine(t.CWD))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tasksScreen formats tasks for a person; a line of the terminal has width columns.
func tasksScreen(w io.Writer, all []store.Task, zone *time.Location, home string, width int) error {
	rows := [][]string{}
	widest := make([]int, 4)
	for _, t := range all {
		row := []string{cli.OneLine(t.Name), timeIn(zone, t.Next), cmp.Or(cli.OneLine(t.Cron), "once"), cmp.Or(outcomeOf(t.Last), "not run")}
		for i, text := range row {
			widest[i] = max(widest[i], layout.Columns(text))
		}
		rows = append(rows, append(row, cli.OneLine(cli.Tilde(t.CWD, home))))
	}
	widest[0] = min(widest[0], max(width/3, 20))
	var b strings.Builder
	for _, row := range rows {
		left := width
		for i, columnWidth := range widest {
			b.WriteString(cli.Pad(layout.Cut(row[i], columnWidth), columnWidth) + "  ")
			left -= columnWidth + 2
		}
		b.WriteString(cli.FitEnd(row[4], max(left, 20)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// timeIn returns a time for people, in the zone in which the tasks are due.
func timeIn(zone *time.Location, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(zone).Format(cli.TimeLayout)
}

func newShow(f *cli.Flags, s *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a task and its last runs with their results",
		Example: "  zeph-acp schedule show nightly",
		Args:    cli.NeedsOne("the name of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withTasks(cmd, f, func(a *app.App, all []store.Task) error {
				t, err := findTask(all, args[0])
				if err != nil {
					return err
				}
				runs, err := a.Store.Runs(cmd.Context(), t.ID)
				if err != nil {
					return err
				}
				if s.json {
					return cli.WriteJSON(cmd.OutOrStdout(), entryOf(t, runs))
				}
				return showTask(cmd.OutOrStdout(), t, a.TaskModel(t), runs, a.Config.Tools.Scheduler.Location())
			})
		},
	}
	cmd.Flags().BoolVar(&s.json, "json", false, "print a JSON object")
	return cmd
}

// showTask prints a task and its runs.
func showTask(w io.Writer, t store.Task, model string, runs []store.Run, zone *time.Location) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cli.OneLine(t.Name))
	fmt.Fprintf(&b, "directory  %s\n", cli.OneLine(t.CWD))
	fmt.Fprintf(&b, "runs       %s, next %s\n", cmp.Or(cli.OneLine(t.Cron), "once"), timeIn(zone, t.Next))
	fmt.Fprintf(&b, "mode       %s\n", cli.OneLine(t.Mode))
	fmt.Fprintf(&b, "model      %s\n", cmp.Or(cli.OneLine(model), "the default"))
	setBy := "you"
	if t.Session != "" {
		setBy = "session " + cli.OneLine(t.Session)
	}
	fmt.Fprintf(&b, "set by     %s\n\n%s\n", setBy, cli.Indent(t.Prompt))
	for _, r := range runs {
		fmt.Fprintf(&b, "\n%s  %s", timeIn(zone, r.Started), outcomeOf(r))
		if r.Session != "" {
			fmt.Fprintf(&b, "  session %s", cli.OneLine(r.Session))
		}
		b.WriteString("\n")
		if r.Result != "" {
			b.WriteString(cli.Indent(r.Result) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
