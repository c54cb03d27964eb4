// Command zeph-acp is a coding agent that lives inside an editor and speaks the
// Agent Client Protocol on stdin and stdout.
//
// A group of commands is a package below this one. Commands return errors; only main exits. A
// failure prints one line on stderr, "zeph-acp: cause". The exit status is 0 for
// success, 1 for a failure, 2 for a wrong command line.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/certify"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/chat"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/configure"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/doctor"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/imports"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/login"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/mcp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/memory"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/review"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/run"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/schedule"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/sessions"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/setup"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/tools"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/topic"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/update"
)

func main() {
	helper.Enter()
	helper.HideMemory()
	findHome()
	f := &cli.Flags{Environ: os.Environ(), Managed: managed()}
	root := newServing(f)
	args := cli.Completed(os.Args[1:])
	if len(args) == 0 && cli.IsTerminal(os.Stdin) && cli.IsTerminal(os.Stdout) { // an editor has a pipe
		args = []string{"chat"}
	}
	if !onlyServes(args) {
		addCommands(root, f)
	}
	if addManual != nil {
		addManual(root)
	}
	if completing(os.Args) {
		addCompletions(root, f)
	}
	root.SetArgs(args)
	os.Exit(cli.PrintError(root.Execute(), os.Stderr))
}

// addManual adds the command that writes the manual pages, in builds with the tag manual.
var addManual func(root *cobra.Command)

// onlyServes reports whether a command line starts the server for an editor.
func onlyServes(args []string) bool { return len(args) == 0 || args[0] == "serve" }

// newRoot builds the whole command tree for an environment, NAME=VALUE.
func newRoot(environ []string) *cobra.Command {
	f := &cli.Flags{Environ: environ, Managed: managed()}
	root := newServing(f)
	addCommands(root, f)
	return root
}

// newServing builds the part of the command tree that editors start. It does no I/O, since
// every start runs it.
func newServing(f *cli.Flags) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "zeph-acp",
		Short: "A coding agent for editors that speak the Agent Client Protocol",
		Args:  cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(cmd)
			}
			return serve(cmd, f)
		},
		PersistentPreRunE: cli.NoEmptyFlag,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.Flags().BoolVarP(&version, "version", "v", false, "print version, commit and Go version")
	f.Register(root)
	root.AddCommand(login.WithLogin(newServe(f), f))
	return root
}

// addCommands adds the commands that people and scripts start.
func addCommands(root *cobra.Command, f *cli.Flags) {
	help := topic.NewCommand(f)
	help.ValidArgsFunction = helpChoices
	root.SetHelpCommand(help)
	root.AddCommand(
		run.NewCommand(f),
		chat.NewCommand(f),
		review.NewCommand(f),
		configure.NewCommand(f),
		login.NewCommand(f),
		login.NewLogout(f),
		sessions.NewCommand(f),
		audit.NewCommand(f),
		memory.NewCommand(f),
		permissions.NewCommand(f),
		mcp.NewCommand(f),
		plugin.NewCommand(f),
		imports.NewCommand(f),
		schedule.NewCommand(f),
		newReplay(),
		certify.NewCommand(),
		tools.NewCommand(catalogue.Tools),
		filter.NewCommand(f),
		doctor.NewCommand(f),
		update.NewCommand(),
		setup.NewCommand(f),
		newCompletion(),
		newManifest(),
		newVersion(),
	)
}
