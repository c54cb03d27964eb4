package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/editors"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/review/findings"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/sessions"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// newCompletion replaces cobra's command of that name, whose help is longer.
func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:     "completion SHELL",
		Short:   "Print the completions for bash, zsh, fish or powershell",
		Example: "  zeph-acp completion zsh > ~/.zfunc/_zeph-acp",
		Long: `Print a script that completes commands, flags, session ids, models, modes and names.

  bash:        zeph-acp completion bash >~/.local/share/bash-completion/completions/zeph-acp
  zsh:         zeph-acp completion zsh >"${fpath[1]}/_zeph-acp"
  fish:        zeph-acp completion fish >~/.config/fish/completions/zeph-acp.fish
  PowerShell:  zeph-acp completion powershell | Out-String | Invoke-Expression

Start a new shell afterwards. For bash the package bash-completion has to be installed.`,
		Args:      cli.NeedsOne("the name of a shell (bash, zsh, fish or powershell)"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return cli.Usagef("unknown shell %q: want bash, zsh, fish or powershell", args[0])
		},
	}
}

// completing reports whether a shell runs this process to complete a command line.
func completing(args []string) bool {
	return len(args) > 1 && (args[1] == cobra.ShellCompRequestCmd || args[1] == cobra.ShellCompNoDescRequestCmd)
}

// choices returns the values for a flag or an argument, each with an optional description
// after a tab. A shell waits for them, so no server is asked.
type choices func(cmd *cobra.Command, f *cli.Flags) []string

// flagChoices are the choices of flags, by name.
var flagChoices = map[string]choices{
	"resume":    sessionChoices,
	"session":   sessionChoices,
	"model":     modelChoices,
	"mode":      modeChoices,
	"provider":  providerChoices,
	"tool":      toolChoices,
	"mcp":       serverChoices,
	"log-level": fixedChoices("debug", "info", "warn", "error"),
	"phase":     fixedChoices("planner", "executor", "verifier", "autonomous"),
	"fail-on":   fixedChoices(findings.Severities...),
	"transport": fixedChoices("http", "sse"),
	"gate":      fixedChoices(audit.GateNames...),
}

// argChoices are the choices of arguments, by the path of the command.
var argChoices = map[string]choices{
	"sessions show":     sessionChoices,
	"sessions export":   sessionChoices,
	"sessions delete":   sessionChoices,
	"mcp test":          serverChoices,
	"mcp tools":         serverChoices,
	"mcp remove":        serverChoices,
	"mcp login":         serverChoices,
	"mcp logout":        serverChoices,
	"schedule show":     taskChoices,
	"schedule run":      taskChoices,
	"schedule delete":   taskChoices,
	"setup":             editorChoices,
	"permissions check": toolChoices,
}

// fileArgs are the commands whose arguments are files or text.
var fileArgs = []string{"replay", "review", "run", "sessions import", "mcp import", "mcp add", "permissions import"}

// addCompletions adds the choices to all commands.
func addCompletions(root *cobra.Command, f *cli.Flags) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if c := argChoices[cli.CommandPath(cmd)]; c != nil {
			cmd.ValidArgsFunction = c.complete(f)
		} else if len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() && !slices.Contains(fileArgs, cli.CommandPath(cmd)) {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
			if c := flagChoices[flag.Name]; c != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag.Name, c.complete(f)) // the flag exists
			}
			_, flag.Usage = pflag.UnquoteUsage(flag) // the marks around the name of the value are for --help
			if flag.Name == "cwd" {
				_ = cmd.MarkFlagDirname(flag.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// complete returns the function that cobra calls. It leaves out values that are on the
// command line already.
func (c choices) complete(f *cli.Flags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, choice := range c(cmd, f) {
			value, _, _ := strings.Cut(choice, "\t")
			if strings.HasPrefix(value, prefix) && !slices.Contains(args, value) {
				out = append(out, choice)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func fixedChoices(values ...string) choices {
	return func(*cobra.Command, *cli.Flags) []string { return values }
}

// described returns a choice with a description on one line.
func described(value, about string) string {
	return cli.OneLine(value) + "\t" + cli.OneLine(about)
}

// maxSessionChoices is the number of sessions that are offered, the newest.
const maxSessionChoices = 100

func sessionChoices(cmd *cobra.Command, f *cli.Flags) (out []string) {
	l, err := f.Load(cmd)
	if err != nil || !l.HasDatabase() {
		return nil
	}
	a := app.New(l, cli.DiscardLog())
	defer cli.CloseApp(a)
	all, err := sessions.Stored(cmd.Context(), l, a)
	if err != nil {
		return nil
	}
	n := sessions.ShortID(all)
	for _, s := range all[:min(len(all), maxSessionChoices)] {
		out = append(out, described(s.ID[:min(n, len(s.ID))], fmt.Sprintf("%s (%s)", s.Title, s.CWD)))
	}
	return out
}

func modelChoices(cmd *cobra.Command, f *cli.Flags) (out []string) {
	l, err := f.Load(cmd)
	if err != nil {
		return nil
	}
	l.Config.LLM.FindOllama = false // no request
	a := app.New(l, cli.DiscardLog())
	defer cli.CloseApp(a)
	for _, m := range a.Sessions().Models() {
		out = append(out, described(m.Name, m.Title))
	}
	return out
}

func modeChoices(*cobra.Command, *cli.Flags) (out []string) {
	for _, m := range permission.Modes() {
		out = append(out, described(m.ID, m.Description))
	}
	return out
}

func providerChoices(cmd *cobra.Command, f *cli.Flags) (out []string) {
	l, err := f.Load(cmd)
	if err != nil {
		return nil
	}
	for _, k := range provider.Keys(l.Config.LLM) {
		out = append(out, described(k.Provider, k.Env))
	}
	return out
}

func toolChoices(*cobra.Command, *cli.Flags) (out []string) {
	for _, t := range catalogue.Tools() {
		about, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		out = append(out, described(t.Name, about))
	}
	return out
}

func serverChoices(cmd *cobra.Command, f *cli.Flags) (out []string) {
	l, err := f.Load(cmd)
	if err != nil {
		return nil
	}
	for _, s := range l.Config.MCP.Servers {
		out = append(out, described(s.Name, s.Target()))
	}
	return out
}

func taskChoices(cmd *cobra.Command, f *cli.Flags) (out []string) {
	l, err := f.Load(cmd)
	if err != nil || !l.HasDatabase() {
		return nil
	}
	a := app.New(l, cli.DiscardLog())
	defer cli.CloseApp(a)
	all, err := a.Store.Tasks(cmd.Context(), "")
	if err != nil {
		return nil
	}
	for _, t := range all {
		out = append(out, described(t.Name, t.CWD))
	}
	return out
}

// helpChoices returns the commands below the one that args name.
func helpChoices(cmd *cobra.Command, args []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
	if above, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
		for _, sub := range above.Commands() {
			if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), prefix) {
				out = append(out, described(sub.Name(), sub.Short))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func editorChoices(*cobra.Command, *cli.Flags) (out []string) {
	for _, e := range editors.All() {
		out = append(out, described(e.Name, e.Title))
	}
	return out
}
