package permissions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// importFlags are the command-line flags of permissions import.
type importFlags struct {
	write, everywhere, noDenyRead bool
}

func newImport(f *cli.Flags) *cobra.Command {
	i := &importFlags{}
	cmd := &cobra.Command{
		Use:     "import FILE...",
		Short:   "Translate the permission rules of another agent",
		Example: "  zeph-acp permissions import ~/.claude/settings.json",
		Long: `Translate the permission rules of another agent: settings.json of Claude Code, or .toml
policies of Gemini CLI. The rules are printed as TOML. Nothing becomes looser: a rule that
cannot be translated is listed on stderr with the reason.

A file outside of ~/.claude and ~/.gemini belongs to a project. Its rules that allow calls are
left out, since the configuration applies to all projects; --everywhere keeps them.`,
		Args: cli.NeedsSome("a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return importPermissions(cmd, f, i, args) },
	}
	cmd.Flags().BoolVar(&i.write, "write", false, "add the rules to the configuration file, after showing what is added")
	cmd.Flags().BoolVar(&i.everywhere, "everywhere", false, "keep the rules of a project that allow calls, for all projects")
	cmd.Flags().BoolVar(&i.noDenyRead, "without-deny-read", false, "leave out tools.file.deny_read")
	return cmd
}

// importPermissions translates files of rules, and prints or writes the result.
func importPermissions(cmd *cobra.Command, f *cli.Flags, flags *importFlags, files []string) error {
	var imports []*Import
	for _, file := range files {
		i, err := readRules(file)
		if err != nil {
			return fmt.Errorf("%s: %w", cli.OneLine(file), workspace.Cause(err))
		}
		if !flags.everywhere && !isUsersOwn(f, file) {
			i.DropAllows()
		}
		imports = append(imports, i)
	}
	all := Merge(imports)
	for _, l := range all.Untranslated {
		fmt.Fprintf(cmd.ErrOrStderr(), "not translated: %s: %s\n", cli.OneLine(l.Rule), cli.OneLine(l.Reason))
	}
	text, deny := all.Text(), ""
	if len(all.DenyRead) > 0 && !flags.noDenyRead {
		deny = List(all.DenyRead)
	}
	shown := text
	if deny != "" {
		shown = strings.Trim("[tools.file]\ndeny_read = "+deny+"\n\n"+text, "\n") + "\n"
	}
	out := cmd.OutOrStdout()
	if !flags.write {
		_, err := fmt.Fprint(out, shown)
		return err
	}
	for line := range strings.Lines(shown) {
		fmt.Fprint(out, "+ "+line)
	}
	if shown == "" {
		return nil
	}
	file, err := config.AddRules(f.FileOptions(), text, deny)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Added to %s.\n", file)
	return err
}

// readRules reads a file of another agent, by the ending of its name.
func readRules(file string) (*Import, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := keys.ReadBounded(f)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(file) {
	case ".json":
		return Claude(data, catalogue.Known())
	case ".rules":
		return nil, cli.Usagef("the .rules files of Codex are programs and cannot be imported: write their rules as [[tools.permissions.bash]]")
	case ".toml":
		return Gemini(data, catalogue.Known())
	}
	return nil, cli.Usagef("want settings.json of Claude Code, or a .toml policy of Gemini CLI")
}

// isUsersOwn reports whether a file is in the user's directory of another agent.
func isUsersOwn(f *cli.Flags, file string) bool {
	abs, err := filepath.Abs(file)
	home := config.HomeDir(f.Getenv)
	if err != nil || home == "" {
		return false
	}
	rel, err := filepath.Rel(home, abs)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return first == ".claude" || first == ".gemini"
}
