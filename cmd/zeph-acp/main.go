// Command zeph-acp is a coding agent that lives inside an editor and speaks the
// Agent Client Protocol on stdin and stdout.
//
// Each subcommand has its own file. Commands return errors; only main exits. A
// failure prints one line on stderr, "zeph-acp: cause". The exit status is 0 for
// success, 1 for a failure, 2 for a wrong command line.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

func main() {
	enterHelper()
	hideMemory()
	findHome()
	f := &flags{environ: os.Environ()}
	root := newServing(f)
	if !serving(os.Args[1:]) {
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

// exit is an error with an exit status of its own. Without a cause nothing is
// printed, since the command has already printed its result.
type exit struct {
	code  int
	cause error
}

func (e *exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func (e *exit) Unwrap() error { return e.cause }

// usageError returns an error about the command line, with a hint.
func usageError(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// exitStatus prints err and returns the exit status.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	code := codeOf(err)
	if e, ok := errors.AsType[*exit](err); ok && e.cause == nil {
		return code
	}
	// A provider's message must not control the terminal either.
	fmt.Fprintf(stderr, "zeph-acp: %s\n", headless.Visible(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")))
	return code
}

// codeOf returns the exit status for a failure.
func codeOf(err error) int {
	if e, ok := errors.AsType[*exit](err); ok {
		return e.code
	}
	return exitFailure
}

// flags are the global flags.
type flags struct {
	config   string // file
	logLevel string
	logFile  string
	record   string // file that serve and run write every frame to
	policy   string // file of rules for serve and run

	values  map[string]string // of further keys, by path, which flags of the command set
	environ []string          // NAME=VALUE; the environment of the process
}

// getenv looks up the environment.
func (f *flags) getenv(name string) string { return config.Getenv(f.environ)(name) }

// load reads the configuration according to the global flags.
func (f *flags) load(cmd *cobra.Command) (*config.Loaded, error) {
	if cmd.Flags().Changed("log-file") {
		if err := needDirectory("--log-file", app.LogFile(config.LogConfig{File: f.logFile}, f.getenv)); err != nil {
			return nil, err
		}
	}
	l, err := config.Load(f.options(cmd))
	if mistakes, ok := errors.AsType[toml.Mistakes](err); ok {
		return nil, byFlag(mistakes)
	}
	return l, err
}

// needDirectory returns an error if the directory of a file that a flag names does not exist.
// It is not created, since the name may have a mistake.
func needDirectory(flag, file string) error {
	_, err := directory(flag, filepath.Dir(file))
	return err
}

// byFlag returns the mistakes with the names of flags instead of the keys that these set.
func byFlag(mistakes toml.Mistakes) toml.Mistakes {
	names := map[string]string{"log.level": "--log-level", "log.file": "--log-file", "tools.policy.policy_file": "--policy-file"}
	for i, m := range mistakes {
		if name := names[m.Key]; name != "" && m.Where == config.CommandLine {
			mistakes[i].Where, mistakes[i].Key = name, ""
		}
	}
	return mistakes
}

// options returns the sources of the configuration according to the global flags.
func (f *flags) options(cmd *cobra.Command) config.Options {
	o := config.Options{File: f.config, Flags: map[string]string{}, Environ: f.environ, Managed: managed()}
	maps.Copy(o.Flags, f.values)
	if cmd.Flags().Changed("log-level") {
		o.Flags["log.level"] = f.logLevel
	}
	if cmd.Flags().Changed("log-file") {
		o.Flags["log.file"] = f.logFile
	}
	if cmd.Flags().Changed("policy-file") {
		o.Flags["tools.policy.policy_file"], o.Flags["tools.policy.enabled"] = f.policy, "true"
	}
	return o
}

// policyFile adds the flag for a file of rules to a command that serves.
func (f *flags) policyFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.policy, "policy-file", "", "judge every call by the rules in `FILE`; see docs/policy.md")
}

// managedFile and managedOwner replace the place and the owner of the managed
// configuration. Only a build can set them, with -ldflags "-X main.managedFile=...".
var managedFile, managedOwner string

// managed returns the managed configuration of this machine.
func managed() config.ManagedFile {
	return config.ManagedFile{Path: cmp.Or(managedFile, config.ManagedPath()), Owner: managedOwner}
}

// serving reports whether a command line only serves an editor.
func serving(args []string) bool { return len(args) == 0 || args[0] == "serve" }

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
	f.policyFile(root)
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", "", "read the configuration from `FILE`")
	p.StringVar(&f.logLevel, "log-level", "", "log messages from `LEVEL` up to stderr: debug, info, warn or error")
	p.StringVar(&f.logFile, "log-file", "", "also log to `FILE`")
	p.StringVar(&f.record, "record", "", "with serve, run and chat: write every frame to `FILE`")
	root.AddCommand(withLogin(newServe(f), f))
	return root
}

// addCommands adds the commands that people and scripts start.
func addCommands(root *cobra.Command, f *flags) {
	root.AddCommand(newRun(f), newChat(f), newReview(f), newConfig(f), newLogin(f), newLogout(f),
		newSessions(f), newAudit(f), newMemory(f), newPermissions(f), newMCP(f), newSchedule(f), newReplay(f), newTools(app.Catalogue), newFilter(f), newDoctor(f), newSetup(f), newCompletion(), newManifest(), newVersion())
}

// noArgs rejects arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no argument, got %q: try %q", cmd.CommandPath(), args[0], cmd.CommandPath()+" --help")
	}
	return nil
}
