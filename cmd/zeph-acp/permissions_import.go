package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// importFlags are the command-line flags of permissions import.
type importFlags struct {
	write, everywhere, noDenyRead bool
}

func newPermissionsImport(f *flags) *cobra.Command {
	i := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Translate the permission rules of another agent",
		Long: `Translate the permission rules of another agent: settings.json of Claude Code, or .toml
policies of Gemini CLI. The rules are printed as TOML. Nothing becomes looser: a rule that
cannot be translated is listed on stderr with the reason.

A file outside of ~/.claude and ~/.gemini belongs to a project. Its rules that allow calls are
left out, since the configuration applies to all projects; --everywhere keeps them.`,
		Args: needsSome("a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return importPermissions(cmd, f, i, args) },
	}
	cmd.Flags().BoolVar(&i.write, "write", false, "add the rules to the configuration file, after showing what is added")
	cmd.Flags().BoolVar(&i.everywhere, "everywhere", false, "keep the rules of a project that allow calls, for all projects")
	cmd.Flags().BoolVar(&i.noDenyRead, "without-deny-read", false, "leave out tools.file.deny_read")
	return cmd
}

// importPermissions translates files of rules, and prints or writes the result.
func importPermissions(cmd *cobra.Command, f *flags, flags *importFlags, files []string) error {
	var imports []*permissions.Import
	for _, file := range files {
		i, err := readRules(file)
		if err != nil {
			return fmt.Errorf("%s: %w", oneLine(file), workspace.Cause(err))
		}
		if !flags.everywhere && !f.isUsersOwn(file) {
			i.DropAllows()
		}
		imports = append(imports, i)
	}
	all := permissions.Merge(imports)
	for _, l := range all.Untranslated {
		fmt.Fprintf(cmd.ErrOrStderr(), "not translated: %s: %s\n", oneLine(l.Rule), oneLine(l.Reason))
	}
	text, deny := all.Text(), ""
	if len(all.DenyRead) > 0 && !flags.noDenyRead {
		deny = permissions.List(all.DenyRead)
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
	file, err := config.AddRules(f.fileOptions(), text, deny)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Added to %s.\n", file)
	return err
}

// readRules reads a file of another agent, by the ending of its name.
func readRules(file string) (*permissions.Import, error) {
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
		return permissions.Claude(data, catalogue.Known())
	case ".rules":
		return nil, usageError("the .rules files of Codex are programs and cannot be imported: write their rules as [[tools.permissions.bash]]")
	case ".toml":
		return permissions.Gemini(data, catalogue.Known())
	}
	return nil, usageError("want settings.json of Claude Code, or a .toml policy of Gemini CLI")
}

// isUsersOwn reports whether a file is in the user's directory of another agent.
func (f *flags) isUsersOwn(file string) bool {
	abs, err := filepath.Abs(file)
	home := config.HomeDir(f.getenv)
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
