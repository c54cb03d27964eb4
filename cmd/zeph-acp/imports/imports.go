// Package imports is the command "zeph-acp import", which brings the settings of another agent:
// permissions, MCP servers, commands, sub-agents, skills, hooks and context files.
//
// It first makes a plan, which says what is added where, what is there already, and what has
// no counterpart and why. Nothing is written before the user agrees, and nothing is overwritten, so a second import
// adds nothing. Input that cannot be read is a line of the plan, and the rest is imported.
//
// Permissions, servers and sub-agents are translated by the code of "permissions import", of "mcp import", and of
// sessions.
package imports

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

// agent is an agent whose settings can be imported.
type agent struct {
	name, title string
	user        func(*importer) // reads the user's files
	project     func(*importer) // reads the parts of a project
}

var agents = []agent{
	{"claude", "Claude Code", (*importer).claude, (*importer).claudeProject},
	{"codex", "Codex", (*importer).codex, (*importer).codexProject},
	{"gemini", "Gemini CLI", (*importer).gemini, (*importer).geminiProject},
	{"cursor", "Cursor", (*importer).cursor, (*importer).cursorProject},
}

// NewCommand returns the command import.
func NewCommand(f *cli.Flags) *cobra.Command {
	project, write := "", false
	var names []string
	for _, a := range agents {
		names = append(names, a.name)
	}
	cmd := &cobra.Command{
		Use:   "import claude|codex|gemini|cursor",
		Short: "Import the settings of another agent",
		Long: `Import the settings of another agent: permissions, MCP servers, commands, sub-agents, skills,
hooks and context files. First a plan is printed: what would be added and where, what is there
already, and what has no counterpart. Nothing is written without --write or your answer, and
nothing is overwritten. A second import adds nothing.`,
		Example: `  zeph-acp import claude
  zeph-acp import codex --write
  zeph-acp import cursor --project .`,
		ValidArgs: names,
		Args:      cli.NeedsOne("claude, codex, gemini or cursor"),
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.IndexFunc(agents, func(a agent) bool { return a.name == args[0] })
			if i < 0 {
				return cli.Usagef("unknown agent %q: want claude, codex, gemini or cursor", args[0])
			}
			return run(cmd, f, agents[i], project, write)
		},
	}
	cmd.Flags().StringVar(&project, "project", "", "also read the files of that agent in the project `DIR`")
	cmd.Flags().BoolVar(&write, "write", false, "write what the plan adds, without a question")
	return cmd
}

// run makes the plan, prints it, and carries it out.
func run(cmd *cobra.Command, f *cli.Flags, a agent, project string, write bool) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	home := config.HomeDir(f.Getenv)
	if home == "" || l.Paths.Config == "" {
		return errors.New("no home directory: set HOME")
	}
	i := &importer{home: home, getenv: f.Getenv, loaded: l, options: f.FileOptions()}
	a.user(i)
	if project != "" {
		if i.project, err = cli.Directory("--project", project); err != nil {
			return err
		}
		a.project(i)
	}
	i.addRules()
	i.addHooks()
	out := cmd.OutOrStdout()
	if err := i.print(out, a.title); err != nil {
		return err
	}
	wrong := error(nil)
	if i.failed {
		wrong = &cli.ExitError{Code: cli.ExitFailure}
	}
	steps := i.steps(adds)
	if len(steps) == 0 {
		return wrong
	}
	if !write && !cli.Confirm(cmd, "Write this?", "Nothing was written", "add --write to write it") {
		return wrong
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", s.what, err))
			continue
		}
		if _, err := fmt.Fprintf(out, "Added: %s\n", cli.OneLine(s.what)); err != nil {
			return err
		}
	}
	return wrong
}

// shown returns a path for people, with "~" for the home directory.
func (i *importer) shown(path string) string {
	if rel, err := filepath.Rel(i.project, path); err == nil && i.project != "" && filepath.IsLocal(rel) {
		return cli.OneLine(rel)
	}
	return cli.OneLine(cli.Tilde(path, i.home))
}
