// Package configure is the command "zeph-acp config", which writes, shows, checks and
// migrates the configuration.
package configure

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// NewCommand returns the command config.
func NewCommand(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Write, show, check or migrate the configuration",
		Args:  cli.NoCommand,
		RunE:  cli.NeedsCommand,
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:     "show",
			Short:   "Print all keys with their values and where these come from",
			Example: "  zeph-acp config show",
			Args:    cli.NoArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return showConfig(cmd, f) },
		},
		&cobra.Command{
			Use:     "check",
			Short:   "Print every mistake with its file, line and key",
			Example: "  zeph-acp config check   # exits with 1 if there is a mistake",
			Long: `Print every mistake with its file, line and key: in the configuration, in
.zeph/config.toml of the current directory, and in the files that both name. The
exit status is 1 if there is a mistake. A key without effect is a warning on stderr.`,
			Args: cli.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return checkConfig(cmd, f) },
		},
		newInit(f),
		newMigrate(f),
	)
	return cmd
}

func showConfig(cmd *cobra.Command, f *cli.Flags) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	cli.PrintWarnings(cmd, l.Warnings)
	return l.Show(cmd.OutOrStdout())
}

// checkConfig prints mistakes to stdout, since they are the result of the command.
func checkConfig(cmd *cobra.Command, f *cli.Flags) error {
	l, err := f.Load(cmd)
	if mistakes, ok := errors.AsType[toml.Mistakes](err); ok {
		return printMistakes(cmd, mistakes)
	}
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	found := l.Check(dir, l.Getenv("ZEPH_MODEL"), catalogue.Known())
	l.Warnings = append(l.Warnings, found.Warnings...)
	cli.PrintWarnings(cmd, l.Warnings)
	if len(found.Mistakes) > 0 {
		return printMistakes(cmd, found.Mistakes)
	}
	out := cmd.OutOrStdout()
	switch {
	case l.Found:
		fmt.Fprintf(out, "%s: ok\n", l.File)
	case l.File != "":
		fmt.Fprintf(out, "%s: ok, no such file: the defaults apply\n", l.File)
	default:
		fmt.Fprintln(out, "ok, no file: the defaults apply")
	}
	if file := l.ManagedFile(); file != "" {
		fmt.Fprintf(out, "%s: ok\n", file)
	}
	if found.Workspace != "" {
		fmt.Fprintf(out, "%s: ok\n", found.Workspace)
	}
	return nil
}

func printMistakes(cmd *cobra.Command, mistakes toml.Mistakes) error {
	for _, m := range mistakes {
		fmt.Fprintln(cmd.OutOrStdout(), m.Error())
	}
	return &cli.ExitError{Code: cli.ExitFailure}
}
