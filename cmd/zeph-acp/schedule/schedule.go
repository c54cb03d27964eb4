// Package schedule is the command "zeph-acp schedule", which lists, shows, runs and deletes
// scheduled tasks, and the runs of tasks in a server.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/tasks"
)

// flags are the command-line flags of schedule and its subcommands.
type flags struct {
	dir  string
	json bool
	// maxRounds is a limit of this command in place of the configured one.
	maxRounds int
}

// NewCommand returns the command schedule.
func NewCommand(f *cli.Flags) *cobra.Command {
	s := &flags{}
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Set, list, show, run or delete scheduled tasks",
		Long: `Set, list, show, run or delete scheduled tasks, even while an agent runs. You can also ask
a model to set one.

NAME is a task of the current directory, or else the only task of that name.`,
		Args: cli.NoCommand,
		RunE: cli.NeedsCommand,
	}
	cmd.PersistentFlags().StringVar(&s.dir, "cwd", "", "only tasks of the directory `DIR`")
	cmd.AddCommand(newAdd(f, s), newList(f, s), newShow(f, s), newRun(f, s), newDelete(f, s))
	return cmd
}

// withTasks runs do with the stored tasks. If there is no database, it has no task and is
// not created.
func (s *flags) withTasks(cmd *cobra.Command, f *cli.Flags, do func(a *app.App, all []store.Task) error) error {
	return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error {
		dir, err := s.directory()
		if err != nil {
			return err
		}
		if !l.HasDatabase() {
			return do(a, nil)
		}
		all, err := a.Store.Tasks(cmd.Context(), dir)
		if err != nil {
			return err
		}
		return do(a, all)
	})
}

// directory returns the absolute path of --cwd; "" means all directories.
func (s *flags) directory() (string, error) {
	if s.dir == "" {
		return "", nil
	}
	return filepath.Abs(s.dir)
}

// findTask returns the task of that name: of the current directory, or the only one.
func findTask(all []store.Task, name string) (store.Task, error) {
	here, err := os.Getwd()
	if err != nil {
		return store.Task{}, err
	}
	var found []store.Task
	var dirs []string
	for _, t := range all {
		if t.Name != name {
			continue
		}
		if t.CWD == here {
			return t, nil
		}
		found, dirs = append(found, t), append(dirs, cli.OneLine(t.CWD))
	}
	switch len(found) {
	case 0:
		return store.Task{}, fmt.Errorf("no task %q is scheduled: %q lists the tasks", name, "zeph-acp schedule list")
	case 1:
		return found[0], nil
	}
	return store.Task{}, fmt.Errorf("%s have a task %q: name one with --cwd: %s", quantity.Count(len(found), "directory"), name, strings.Join(dirs, ", "))
}

func newDelete(f *cli.Flags, s *flags) *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME...",
		Short:   "Delete tasks and their results, without asking",
		Example: "  zeph-acp schedule delete nightly",
		Args:    cli.NeedsSome("the name of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withTasks(cmd, f, func(a *app.App, all []store.Task) error { return deleteTasks(cmd, a, all, args) })
		},
	}
}

// deleteTasks deletes the tasks that exist and reports the others.
func deleteTasks(cmd *cobra.Command, a *app.App, all []store.Task, names []string) error {
	var unknown error
	for _, name := range names {
		t, err := findTask(all, name)
		if err == nil {
			err = a.Store.DeleteTask(cmd.Context(), t.ID)
		}
		if err != nil {
			cli.PrintError(err, cmd.ErrOrStderr())
			unknown = &cli.ExitError{Code: cli.ExitFailure}
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Deleted %s of %s.\n", cli.OneLine(t.Name), cli.OneLine(t.CWD)); err != nil {
			return err
		}
	}
	return unknown
}

func newRun(f *cli.Flags, s *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [NAME...]",
		Short: "Run tasks now, or all that are due",
		Long: `Run tasks now, one after another, and show their turns. Without a name it runs the
tasks that are due, so that a system timer can take the place of an open
agent:

  zeph-acp schedule run nightly
  */5 * * * * zeph-acp schedule run   # a line of crontab

The exit status is 1 if a run failed, or if another process runs the task.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			given, err := cli.GivenRounds(cmd.Flags())
			if err != nil {
				return err
			}
			if given {
				f.Values = map[string]string{"tools.scheduler.max_rounds": strconv.Itoa(s.maxRounds)}
			}
			return s.withTasks(cmd, f, func(a *app.App, all []store.Task) error {
				chosen, err := tasksToRun(cmd.Context(), a, all, args)
				if err != nil {
					return err
				}
				return runTasks(cmd, f, a, chosen)
			})
		},
	}
	cli.AddMaxRounds(cmd.Flags(), &s.maxRounds, "stop each run after `N` rounds of tool calls, in place of tools.scheduler.max_rounds")
	return cmd
}

// tasksToRun returns the named tasks, or those that are due.
func tasksToRun(ctx context.Context, a *app.App, all []store.Task, names []string) (chosen []store.Task, err error) {
	for _, name := range names {
		t, err := findTask(all, name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, t)
	}
	if len(names) > 0 || len(all) == 0 {
		return chosen, nil
	}
	due, _, err := a.Store.Due(ctx, a.Now())
	if err != nil {
		return nil, err
	}
	for _, id := range due {
		if i := slices.IndexFunc(all, func(t store.Task) bool { return t.ID == id }); i >= 0 {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// runTasks runs tasks and reports how each ended.
func runTasks(cmd *cobra.Command, f *cli.Flags, a *app.App, chosen []store.Task) error {
	ctx, stop := cli.StopOnSignal(cmd.Context(), func() {})
	defer stop()
	screen := cli.Screen(cmd.OutOrStdout(), os.Stdout, f.Getenv)
	a.Reaper = helper.NewReaper()
	a.RunTask = TaskRun{App: a, Environ: f.Environ, view: screen}.Run
	runner := a.Tasks()
	var failed error
	for _, t := range chosen {
		run, err := runner.RunNow(ctx, t.ID)
		if stopped := cli.SignalExit(ctx); stopped != nil {
			return stopped
		}
		if _, leased := errors.AsType[*store.LeasedError](err); leased {
			err = fmt.Errorf("%s runs in another process", cli.OneLine(t.Name))
		}
		switch {
		case err != nil:
			cli.PrintError(err, cmd.ErrOrStderr())
		case run.Outcome == tasks.Done:
			continue
		default:
			fmt.Fprintf(cmd.ErrOrStderr(), "zeph-acp: %s: %s: %s\n", cli.OneLine(t.Name), run.Outcome, executors.WholeLine(run.Result))
		}
		failed = &cli.ExitError{Code: cli.ExitFailure}
	}
	return failed
}
