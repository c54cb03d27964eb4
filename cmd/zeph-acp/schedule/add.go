package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	tool "github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/session/tasks"
)

func newAdd(f *cli.Flags, s *flags) *cobra.Command {
	var cron, at, mode string
	cmd := &cobra.Command{
		Use:   "add NAME PROMPT...",
		Short: "Set a task, or replace the one of that name",
		Long: `Set a task of the current directory, or replace the one of that name. It runs while an agent
runs, or by "zeph-acp schedule run":

  zeph-acp schedule add nightly --cron "0 3 * * *" "update the dependencies and run the tests"
  zeph-acp schedule add tests --cron "0 * * * *" "/bash go test ./..."
  zeph-acp schedule add reminder --at "tomorrow 09:00" "write the release notes"`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) < 2:
				return cli.Usagef("want a name and a prompt: try %q", cmd.CommandPath()+" --help")
			case (cron == "") == (at == ""):
				return cli.Usagef("want --cron or --at: try %q", cmd.CommandPath()+" --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error {
				e, err := s.executor(l, a)
				if err != nil {
					return err
				}
				text, err := e.Add(cmd.Context(), tool.NewTask{Name: args[0], Cron: cron, At: at, Task: strings.Join(args[1:], " "), Mode: mode})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&cron, "cron", "", "run it by the cron expression `EXPR`, such as \"0 3 * * *\"")
	cmd.Flags().StringVar(&at, "at", "", "run it once, at `TIME`")
	cmd.Flags().StringVar(&mode, "mode", "", "run it in the session mode `MODE` (default: the configured one)")
	return cmd
}

// executor returns the tools for the tasks of the directory.
func (s *flags) executor(l *config.Loaded, a *app.App) (*tool.Executor, error) {
	dir, err := cli.Directory("--cwd", s.dir)
	switch {
	case err != nil:
		return nil, err
	case !l.Config.Tools.Scheduler.Enabled:
		return nil, errors.New("scheduled tasks are switched off: set tools.scheduler.enabled = true")
	case a.Store == nil:
		return nil, errors.New("there is no directory to store tasks in")
	}
	var modes []string
	for _, m := range a.Sessions().Modes {
		modes = append(modes, m.ID)
	}
	return &tool.Executor{
		Store: tasks.ToolStore{DB: a.Store}, Config: l.Config.Tools.Scheduler, CWD: dir, Now: time.Now,
		Mode: func(wanted string) (string, error) {
			if wanted == "" {
				wanted = l.Config.Agent.Mode
			}
			if !slices.Contains(modes, wanted) {
				return "", fmt.Errorf("want one of %s, not %q", strings.Join(modes, ", "), wanted)
			}
			return wanted, nil
		},
		Model: func() string { return "" }, Changed: func() {},
	}, nil
}
