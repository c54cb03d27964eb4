package configure

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

func newInit(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "init",
		Short:   "Write a configuration file to start from",
		Example: "  zeph-acp config init",
		Long: `Write a configuration file that has every key with its default, as a comment. Without
--config the file is config.toml under ZEPH_HOME, or else in ~/.config/zeph-acp. A file that
exists is not changed.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := config.Init(f.FileOptions())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s.\n", file)
			return err
		},
	}
}

func newMigrate(f *cli.Flags) *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Rename or remove old keys in the configuration file",
		Example: "  zeph-acp config migrate",
		Long: `Rename keys that had another name in older versions, and remove keys that are no
longer supported. Comments and layout stay, and the old file is kept as FILE.bak. Nothing is written if the configuration
would have mistakes afterwards.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrateConfig(cmd, f, dryRun) },
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only print what would be done")
	return cmd
}

// migrateConfig replaces the old keys, or prints what it would change.
func migrateConfig(cmd *cobra.Command, f *cli.Flags, dryRun bool) error {
	m, err := config.Migrate(f.FileOptions())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if !m.Found {
		_, err := fmt.Fprintf(out, "Nothing to migrate: there is no configuration file.\n")
		return err
	}
	if m.Refused {
		cli.PrintWarnings(cmd, m.Remaining)
		return fmt.Errorf("%s is not migrated: correct the mistakes above first", m.File)
	}
	for _, c := range m.Changes {
		fmt.Fprintln(out, c)
	}
	switch {
	case len(m.Changes) == 0:
		fmt.Fprintf(out, "Nothing to migrate in %s.\n", m.File)
	case dryRun:
		fmt.Fprintf(out, "Nothing was written to %s: this is a --dry-run.\n", m.File)
	default:
		backup, err := m.Apply()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Wrote %s. The previous version is in %s.\n", m.File, backup)
	}
	cli.PrintWarnings(cmd, m.Remaining)
	return nil
}
