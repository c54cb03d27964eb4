package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
)

// newReplay plays fixtures, each against a fresh server. The global flags have no
// effect: a fixture contains its own configuration.
func newReplay() *cobra.Command {
	return &cobra.Command{
		Use:     "replay FIXTURE...",
		Short:   "Play recorded fixtures against a fresh server and show the first difference of each",
		Example: "  zeph-acp replay session.jsonl   # exits with 1 if a frame differs",
		Args:    cli.NeedsSome("a fixture"),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer app.Isolate()()
			failed := false
			for _, file := range args {
				name, err := replay(cmd, file)
				line := "ok " + name
				if err != nil {
					failed = true
					line = "zeph-acp: " + err.Error()
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
					return err
				}
			}
			if failed {
				return &cli.ExitError{Code: cli.ExitFailure}
			}
			return nil
		},
	}
}

// maxFixture limits a fixture, in bytes.
const maxFixture = 64 << 20

// replay plays one fixture and returns its name.
func replay(cmd *cobra.Command, file string) (name string, err error) {
	data, err := cli.ReadBounded(file, maxFixture)
	if err != nil {
		return "", err
	}
	f, err := fixtures.Parse(file, data)
	if err != nil {
		return "", err
	}
	return f.Name, app.Replay(cmd.Context(), f, fixtures.Play)
}
