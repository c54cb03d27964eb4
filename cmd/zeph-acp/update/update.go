// Package update says how this program was installed, and what to type to update or remove it.
// It changes nothing itself: a package manager that does not know of a new file would
// put the old one back.
package update

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// NewCommand returns the command update.
func NewCommand() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Print how to update or remove this installation",
		Long: `Print how zeph-acp was installed, and what to type to update or remove it. Nothing is
changed, and without --check no server is asked.

  zeph-acp update
  zeph-acp update --check`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := inspect(cmd.Context())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if err := i.find().print(out, i.path); err != nil || !check {
				return err
			}
			return printNewest(cmd.Context(), out, releases)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask GitHub for the newest version")
	return cmd
}

// inspect returns the facts of this process.
func inspect(ctx context.Context) (installation, error) {
	path, err := os.Executable()
	if err != nil {
		return installation{}, fmt.Errorf("finding this program: %w", err)
	}
	// Linux adds this to the path of a program that was replaced while it runs.
	path = strings.TrimSuffix(path, " (deleted)")
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, _ := debug.ReadBuildInfo()
	programs := &program.Runner{Env: shell.Env(os.Environ(), nil)}
	return installation{
		path: path, system: runtime.GOOS, home: config.HomeDir(os.Getenv), getenv: os.Getenv, info: info,
		exists: func(file string) bool { _, err := os.Stat(file); return err == nil },
		run: func(name string, args ...string) string {
			out, err := programs.Run(ctx, program.Command{Name: name, Args: args, Dir: os.TempDir()})
			if err != nil {
				return "" // it is not installed here, or does not know the file
			}
			return string(out)
		},
	}, nil
}

// print writes what to type.
func (w way) print(out io.Writer, path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "zeph-acp %s was %s: %s\n", app.Version, w.how, cli.OneLine(path))
	for _, part := range []struct {
		title string
		lines []string
	}{{"To update it:", w.update}, {"To remove it:", w.remove}} {
		fmt.Fprintln(&b, part.title)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "  %s\n", cli.OneLine(line))
		}
	}
	fmt.Fprintln(&b, `Nothing was changed. "zeph-acp help install.md" lists the files that stay after a removal.`)
	_, err := io.WriteString(out, b.String())
	return err
}
