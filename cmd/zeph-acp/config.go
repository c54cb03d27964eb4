package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
)

func newConfig(f *flags) *cobra.Command {
	config := &cobra.Command{
		Use:   "config",
		Short: "Write, show, check or migrate the configuration",
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage(`want "config init", "config show", "config check" or "config migrate"`)
		},
	}
	config.AddCommand(
		&cobra.Command{
			Use:   "show",
			Short: "Print all keys with their values and where these come from",
			Args:  noArgs,
			RunE:  func(cmd *cobra.Command, _ []string) error { return showConfig(cmd, f) },
		},
		&cobra.Command{
			Use:   "check",
			Short: "Name file, line and key of every mistake",
			Args:  noArgs,
			RunE:  func(cmd *cobra.Command, _ []string) error { return checkConfig(cmd, f) },
		},
		newConfigInit(f),
		newConfigMigrate(f),
	)
	return config
}

func showConfig(cmd *cobra.Command, f *flags) error {
	l, err := f.load(cmd)
	if err != nil {
		return err
	}
	warn(cmd, l)
	return l.Show(cmd.OutOrStdout())
}

// checkConfig prints mistakes to stdout: they are what was asked for.
func checkConfig(cmd *cobra.Command, f *flags) error {
	l, err := f.load(cmd)
	if mistakes, ok := errors.AsType[app.Mistakes](err); ok {
		for _, m := range mistakes {
			fmt.Fprintln(cmd.OutOrStdout(), m.Error())
		}
		return &exit{code: exitFailure}
	}
	if err != nil {
		return err
	}
	warn(cmd, l)
	switch {
	case l.Found:
		fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", l.File)
	case l.File != "":
		fmt.Fprintf(cmd.OutOrStdout(), "%s: ok, no such file: the defaults hold\n", l.File)
	default:
		fmt.Fprintln(cmd.OutOrStdout(), "ok, no file: the defaults hold")
	}
	return nil
}

func warn(cmd *cobra.Command, l *app.Loaded) {
	for _, w := range l.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "zeph-acp: warning: %s\n", w)
	}
}
