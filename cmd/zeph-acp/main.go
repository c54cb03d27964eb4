// Command zeph-acp is a coding agent that lives inside an editor and speaks the
// Agent Client Protocol on stdin and stdout.
//
// Each subcommand has its own file. Commands return errors; only main exits. A
// failure prints one line on stderr, "zeph-acp: cause". The exit status is 0 for
// success, 1 for a failure, 2 for a wrong command line.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

func main() {
	enterHelper()
	hideMemory()
	findHome()
	f := &flags{environ: os.Environ()}
	root := newServing(f)
	if !onlyServes(os.Args[1:]) {
		addCommands(root, f)
	}
	if addManual != nil {
		addManual(root)
	}
	if completing(os.Args) {
		addCompletions(root, f)
	}
	root.SetArgs(os.Args[1:])
	os.Exit(exitStatus(root.Execute(), os.Stderr))
}

// addManual adds the command that writes the manual pages, in builds with the tag manual.
var addManual func(root *cobra.Command)

// Exit statuses.
const (
	exitFailure = 1
	exitUsage   = 2
)

// exitError is an error with an exit status of its own. Without a cause nothing is
// printed, since the command has already printed its result.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

// usageError returns an error about the command line, with a hint.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// exitStatus prints err and returns the exit status.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	code := exitCode(err)
	if e, ok := errors.AsType[*exitError](err); ok && e.cause == nil {
		return code
	}
	// A provider's message must not control the terminal either.
	fmt.Fprintf(stderr, "zeph-acp: %s\n", headless.Visible(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")))
	return code
}

// exitCode returns the exit status for a failure.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitFailure
}

// onlyServes reports whether a command line starts the server for an editor.
func onlyServes(args []string) bool { return len(args) == 0 || args[0] == "serve" }

// newRoot builds the whole command tree for an environment, NAME=VALUE.
func newRoot(environ []string) *cobra.Command {
	f := &flags{environ: environ}
	root := newServing(f)
	addCommands(root, f)
	return root
}

// newServing builds the part of the command tree that editors start. It does no I/O, since
// every start runs it.
func newServing(f *flags) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "zeph-acp",
		Short: "A coding agent for editors that speak the Agent Client Protocol",
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(cmd)
			}
			return serve(cmd, f)
		},
		PersistentPreRunE: noEmptyFlag,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flagError)
	root.Flags().BoolVarP(&version, "version", "v", false, "print version, commit and Go version")
	f.addPolicyFlag(root)
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", "", "read the configuration from `FILE`")
	p.StringVar(&f.logLevel, "log-level", "", "log messages of `LEVEL` and above to stderr: debug, info, warn or error (default: error)")
	p.StringVar(&f.logFile, "log-file", "", "also log to `FILE`, with all warnings")
	p.StringVar(&f.record, "record", "", "with serve, run and chat: write every frame to `FILE`")
	root.AddCommand(withLogin(newServe(f), f))
	return root
}

// newHelp returns the command help. Unlike cobra's own, it rejects an unknown command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, rest, _ := cmd.Root().Find(args) // its error has fewer hints
			if len(rest) > 0 && wanted.HasAvailableSubCommands() {
				return noCommand(wanted, rest)
			}
			return wanted.Help()
		},
		ValidArgsFunction: helpChoices,
	}
}

// addCommands adds the commands that people and scripts start.
func addCommands(root *cobra.Command, f *flags) {
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newRun(f),
		newChat(f),
		newReview(f),
		newConfig(f),
		newLogin(f),
		newLogout(f),
		newSessions(f),
		newAudit(f),
		newMemory(f),
		newPermissions(f),
		newMCP(f),
		newSchedule(f),
		newReplay(),
		newTools(catalogue.Tools),
		newFilter(f),
		newDoctor(f),
		newSetup(f),
		newCompletion(),
		newManifest(),
		newVersion(),
	)
}
