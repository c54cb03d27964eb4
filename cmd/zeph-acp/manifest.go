package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

func newManifest() *cobra.Command {
	var archives, url, dir string
	cmd := &cobra.Command{
		Use:   "manifest",
		Short: "Print the entry of this version for the ACP registry",
		Long: `Print agent.json of this version for the ACP registry, from which editors install agents.
With --archives it has the SHA-256 sums of a release's archives.

  zeph-acp manifest
  zeph-acp manifest --archives dist --output registry/zeph-acp

With --output the icon is written too.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := manifest.Archives(app.Version)
			if archives != "" {
				var err error
				if all, err = manifest.WithSums(app.Version, archives); err != nil {
					return fmt.Errorf("--archives: %w", err)
				}
			}
			entry, err := manifest.New(app.Version, url, all).JSON()
			if err != nil {
				return err
			}
			if dir == "" {
				_, err = cmd.OutOrStdout().Write(entry)
				return err
			}
			return writeEntry(cmd, dir, entry)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&archives, "archives", "", "add the sums of the archives in `DIR`")
	fs.StringVar(&url, "url", manifest.URL(app.Version), "the archives are below `URL`")
	fs.StringVarP(&dir, "output", "o", "", "write agent.json and icon.svg into `DIR`")
	return cmd
}

// writeEntry replaces the two files of an entry in a directory.
func writeEntry(cmd *cobra.Command, dir string, entry []byte) error {
	if err := keys.MakeDir(dir); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{"agent.json", entry}, {"icon.svg", manifest.Icon}} {
		file := filepath.Join(dir, f.name)
		if err := keys.ReplaceFile(file, f.data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s.\n", cli.OneLine(file))
	}
	return nil
}
