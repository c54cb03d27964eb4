package main

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// flags are the global flags.
type flags struct {
	config   string // --config, a file
	logLevel string // --log-level
	logFile  string // --log-file
	record   string // --record, a file for every frame
	policy   string // --policy-file

	values  map[string]string // of configuration keys, by path, that flags of the command set
	environ []string          // the environment of the process, NAME=VALUE
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
		if mistakes[0].Where == config.CommandLine {
			return nil, usageError("%w", withFlagNames(mistakes))
		}
		return nil, withFlagNames(mistakes)
	}
	return l, err
}

// needDirectory returns an error if the directory of a file that a flag names does not exist.
// It is not created, since the name may have a mistake.
func needDirectory(flag, file string) error {
	_, err := directory(flag, filepath.Dir(file))
	return err
}

// withFlagNames replaces the keys of mistakes on the command line by the flags that set them.
func withFlagNames(mistakes toml.Mistakes) toml.Mistakes {
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

// fileOptions returns the options of the commands that change the configuration file.
func (f *flags) fileOptions() config.Options {
	return config.Options{File: f.config, Environ: f.environ}
}

// projectFlags select a project, or all.
type projectFlags struct {
	dir         string
	allProjects bool
}

// register adds the flags. things names what they select: "the entries of".
func (p *projectFlags) register(cmd *cobra.Command, things string) {
	cmd.Flags().StringVar(&p.dir, "cwd", "", things+" the project `DIR` instead of the current directory")
	cmd.Flags().BoolVar(&p.allProjects, "all-projects", false, things+" all projects")
}

// roots returns the workspace roots of the selected project.
func (p *projectFlags) roots() (*workspace.Roots, error) {
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return nil, err
	}
	return workspace.New(dir)
}

// addPolicyFlag adds --policy-file to a command.
func (f *flags) addPolicyFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.policy, "policy-file", "", "judge every call by the rules in `FILE`; see docs/policy.md")
}

// managedFile and managedOwner replace the place and the owner of the managed
// configuration. Only a build can set them, with -ldflags "-X main.managedFile=...".
var managedFile, managedOwner string

// managed returns the managed configuration of this machine.
func managed() config.ManagedFile {
	return config.ManagedFile{Path: cmp.Or(managedFile, config.ManagedPath()), Owner: managedOwner}
}

// withApp prints the warnings about the configuration, and calls do with it and a new App, which it
// closes afterwards.
func withApp(cmd *cobra.Command, f *flags, do func(*config.Loaded, *app.App) error) error {
	l, err := f.load(cmd)
	if err != nil {
		return err
	}
	return useApp(l, func(a *app.App) error {
		printWarnings(cmd, l.Warnings)
		return do(l, a)
	})
}

// useApp calls do with a new App, which it closes afterwards.
func useApp(l *config.Loaded, do func(*app.App) error) error {
	log, closeLog, err := app.NewLogger(l.Config.Log, l.Getenv, os.Stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	a := app.New(l, log)
	defer closeApp(a)
	return do(a)
}
