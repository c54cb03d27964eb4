package permissions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// NewCommand returns the command permissions.
func NewCommand(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Check the decision about a call; list or remove remembered answers; import rules",
		Args:  cli.NoCommand,
		RunE:  cli.NeedsCommand,
	}
	cmd.AddCommand(newCheck(f), newList(f), newForget(f), newImport(f))
	return cmd
}

// checkFlags are the command-line flags of permissions check.
type checkFlags struct {
	dir, mode   string
	hooks, json bool
}

func newCheck(f *cli.Flags) *cobra.Command {
	c := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check [flags] [--] TOOL INPUT... | COMMAND...",
		Short: "Print the decision about a call, and the rule that decides",
		Long: `Print the decision about a call: allow, ask or deny, the verdict of each gate, and the
rule with its file and line. The call passes the same gates as in a session, but it does
not run, is not recorded, and you are not asked. Gates without a verdict are left out.

The input is JSON, or the text of the tool's only required parameter, such as a path.
Arguments that do not begin with the name of a tool are a shell command. Write -- before
a command with options of its own.

A check begins with a new session: earlier calls do not count, remembered answers do. It
starts no MCP servers and treats their tools as untrusted. The exit status is 0 if the
call could be checked, whatever the decision.`,
		Example: `  zeph-acp permissions check -- git push --force
  zeph-acp permissions check --mode auto edit src/main.go
  zeph-acp permissions check --json fetch https://example.com/`,
		Args: cli.NeedsSome("a tool with its input, or a command"),
		RunE: func(cmd *cobra.Command, args []string) error { return checkPermission(cmd, f, c, args) },
	}
	cmd.SetFlagErrorFunc(cli.FlagErrorBeforeCommand)
	fs := cmd.Flags()
	fs.StringVar(&c.dir, "cwd", "", "check for a session in `DIR` instead of the current directory")
	fs.StringVar(&c.mode, "mode", "", "check in the session mode `MODE`: ask, architect, code, auto or auto-judge; default: the configured one")
	fs.BoolVar(&c.hooks, "hooks", false, "also run hooks, and ask models that judge calls")
	fs.BoolVar(&c.json, "json", false, "print a JSON object")
	return cmd
}

// checkPermission checks the call that the arguments name.
func checkPermission(cmd *cobra.Command, f *cli.Flags, c *checkFlags, args []string) error {
	return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error {
		dir, err := filepath.Abs(c.dir)
		if err != nil {
			return err
		}
		checker, err := a.Checker(dir, c.mode)
		if mode, ok := errors.AsType[*headless.ModeError](err); ok {
			return cli.Usagef("--mode: %w", mode)
		}
		if err != nil {
			return cli.Usagef("%w", err)
		}
		checker.Hooks = c.hooks
		cli.PrintWarnings(cmd, checker.Warnings)
		tool, text := shell.Tool, strings.Join(args, " ")
		if checker.Tool(args[0]) || len(args) == 2 && strings.HasPrefix(args[1], "{") && json.Valid([]byte(args[1])) {
			tool, text = args[0], cmp.Or(strings.Join(args[1:], " "), "{}")
		}
		input, err := checker.Input(tool, text)
		if err != nil {
			why, _, _ := strings.Cut(err.Error(), "\n") // the usage of the tool follows
			return cli.Usagef("%s: try %q", strings.TrimSuffix(strings.TrimPrefix(why, "/"), "."), "zeph-acp tools")
		}
		check, err := checker.Check(cmd.Context(), tool, input)
		if err != nil {
			return err
		}
		if err := printCheck(cmd.OutOrStdout(), check, c.json); err != nil {
			return err
		}
		if check.Decision == app.Invalid {
			return &cli.ExitError{Code: cli.ExitFailure}
		}
		return nil
	})
}

// printCheck prints the decision, the verdicts, and the reasons why a run could differ.
func printCheck(out io.Writer, check app.Check, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(out, check)
	}
	fmt.Fprintf(out, "%s\n", check.Decision)
	for line := range strings.Lines(check.Explained) {
		fmt.Fprintf(out, "%s\n", cli.OneLine(strings.TrimSuffix(line, "\n")))
	}
	if check.Again != "" {
		fmt.Fprintf(out, "It runs in the box. If it fails there and is called again: %s\n", check.Again)
	}
	for _, what := range check.Skipped {
		fmt.Fprintf(out, "A run would also ask %s.\n", cli.OneLine(what))
	}
	if check.Fails != "" {
		fmt.Fprintf(out, "The call would fail: %s\n", cli.OneLine(check.Fails))
	}
	return nil
}
