//go:build manual

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
)

// The release builds with the tag manual to write the pages from the commands
// themselves. The shipped binary has neither the command nor the libraries.
func init() { addManual = func(root *cobra.Command) { root.AddCommand(newManual(root)) } }

func newManual(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR SECONDS",
		Short:  "Write the manual pages and completions into DIR, dated with a Unix time",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return err
			}
			return writeManual(root, args[0], time.Unix(seconds, 0).UTC())
		},
	}
}

// writeManual writes man/man1/*.1 and completions/* into dir.
func writeManual(root *cobra.Command, dir string, date time.Time) error {
	pages, completions := filepath.Join(dir, "man", "man1"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "zeph-acp " + app.Version, Manual: "zeph-acp"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	for name, write := range map[string]func(string) error{
		"zeph-acp.bash": func(file string) error { return root.GenBashCompletionFileV2(file, true) },
		"_zeph-acp":     root.GenZshCompletionFile,
		"zeph-acp.fish": func(file string) error { return root.GenFishCompletionFile(file, true) },
		"zeph-acp.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(completions, name)); err != nil {
			return err
		}
	}
	return nil
}
