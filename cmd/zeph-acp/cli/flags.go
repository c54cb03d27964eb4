// Package cli has what the commands share: the global flags and the configuration by them,
// checks of arguments, exit statuses, warnings, signals, and output for terminals and for
// programs.
package cli

import (
	"errors"
	"maps"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// Flags are the global flags.
type Flags struct {
	config   string // --config, a file
	logLevel string // --log-level
	logFile  string // --log-file
	record   string // --record, a file for every frame
	policy   string // --policy-file
	protocol string // --protocol

	Values  map[string]string  // of configuration keys, by path, that flags of the command set
	Environ []string           // the environment of the process, NAME=VALUE
	Managed config.ManagedFile // the managed configuration of this machine
}

// Getenv looks up the environment.
func (f *Flags) Getenv(name string) string { return config.Getenv(f.Environ)(name) }

// Load reads the configuration according to the global flags.
func (f *Flags) Load(cmd *cobra.Command) (*config.Loaded, error) {
	if cmd.Flags().Changed("log-file") {
		if err := NeedDirectory("--log-file", app.LogFile(config.LogConfig{File: f.logFile}, f.Getenv)); err != nil {
			return nil, err
		}
	}
	l, err := config.Load(f.Options(cmd))
	if mistakes, ok := errors.AsType[toml.Mistakes](err); ok {
		if mistakes[0].Where == config.CommandLine {
			return nil, Usagef("%w", withFlagNames(mistakes))
		}
		return nil, withFlagNames(mistakes)
	}
	return l, err
}

// withFlagNames replaces the keys of mistakes on the command line by the flags that set them.
func withFlagNames(mistakes toml.Mistakes) toml.Mistakes {
	names := map[string]string{"log.level": "--log-level", "log.file": "--log-file", "tools.policy.policy_file": "--policy-file", "acp.protocol": "--protocol"}
	for i, m := range mistakes {
		if name := names[m.Key]; name != "" && m.Where == config.CommandLine {
			mistakes[i].Where, mistakes[i].Key = name, ""
		}
	}
	return mistakes
}

// Options returns the sources of the configuration according to the global flags.
func (f *Flags) Options(cmd *cobra.Command) config.Options {
	o := config.Options{File: f.config, Flags: map[string]string{}, Environ: f.Environ, Managed: f.Managed}
	maps.Copy(o.Flags, f.Values)
	if cmd.Flags().Changed("log-level") {
		o.Flags["log.level"] = f.logLevel
	}
	if cmd.Flags().Changed("log-file") {
		o.Flags["log.file"] = f.logFile
	}
	if cmd.Flags().Changed("policy-file") {
		o.Flags["tools.policy.policy_file"], o.Flags["tools.policy.enabled"] = f.policy, "true"
	}
	if cmd.Flags().Changed("protocol") {
		o.Flags["acp.protocol"] = f.protocol
	}
	return o
}

// FileOptions returns the options of the commands that change the configuration file.
func (f *Flags) FileOptions() config.Options {
	return config.Options{File: f.config, Environ: f.Environ}
}

// Register adds the global flags to the root command.
func (f *Flags) Register(root *cobra.Command) {
	f.AddPolicyFlag(root)
	f.AddProtocolFlag(root, Serves)
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", "", "read the configuration from `FILE`")
	p.StringVar(&f.logLevel, "log-level", "", "log messages of `LEVEL` and above to stderr: debug, info, warn or error (default: error)")
	p.StringVar(&f.logFile, "log-file", "", "also log to `FILE`, with all warnings")
	p.StringVar(&f.record, "record", "", "with serve, run and chat: write every frame to `FILE`")
}

// AddPolicyFlag adds --policy-file to a command.
func (f *Flags) AddPolicyFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.policy, "policy-file", "", "check every call by the rules in `FILE`; see docs/gates.md")
}

// Serves describes --protocol for a command that serves an editor.
const Serves = "serve the `VERSIONS` of the protocol: v1, auto or v2; see docs/protocol.md"

// AddProtocolFlag adds --protocol to a command.
func (f *Flags) AddProtocolFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&f.protocol, "protocol", "", usage)
}
