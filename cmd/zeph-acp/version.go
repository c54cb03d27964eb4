package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit and Go version",
		Example: "  zeph-acp version",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "zeph-acp %s\ncommit %s\n%s\n", app.Version, commit(), runtime.Version())
	return err
}

// commit returns the commit that the toolchain recorded in the binary, "" if it was
// not built from a repository.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	return cmp.Or(revision, "unknown") + modified
}
