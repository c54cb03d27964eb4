package shell

import (
	"fmt"
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the part of [tools.shell] about running commands.
type Config struct {
	// Timeout is how long one command may run, in seconds. Default 30; 0 means
	// no limit.
	Timeout int `toml:"timeout"`
	// MaxTimeout is the longest timeout that a call may ask for, in seconds.
	// Default 600, from 1 to 86,400.
	MaxTimeout int `toml:"max_timeout"`
	// MaxOutputBytes is how many bytes of a command's output are kept, in a
	// temporary file if it is long. A longer output loses its middle. Default
	// 100 MiB, at least 4096.
	MaxOutputBytes int `toml:"max_output_bytes"`
	// MaxOutputChars is how many characters of output the model and the editor
	// get. Default 50,000, at least 1000.
	MaxOutputChars int `toml:"max_output_chars"`
	// EnvBlocklist adds prefixes of variables that commands must not see. Variables
	// named like secrets and those of providers are always hidden. Default empty.
	EnvBlocklist []string `toml:"env_blocklist"`
	// MaxBackground is how many commands may be in the background at the same
	// time. Default 8; 0 disables them.
	MaxBackground int `toml:"max_background"`

	// Transactional, together with AutoRollback, restores the files that a failed
	// command changed. The files that it may write are copied before it runs.
	// Default false.
	Transactional bool `toml:"transactional"`
	// TransactionScope names, as globs relative to the session's directories, the
	// files that are copied and restored. Default ["**"]. Files in .git are never
	// restored.
	TransactionScope []string `toml:"transaction_scope"`
	// AutoRollback restores the copies if the exit code is one of
	// AutoRollbackExitCodes. Without it no copies are made. Default false.
	AutoRollback bool `toml:"auto_rollback"`
	// AutoRollbackExitCodes are the exit codes of a failure; 124 means a timeout. Default
	// [1, 2].
	AutoRollbackExitCodes []int `toml:"auto_rollback_exit_codes"`
	// SnapshotRequired refuses a command that may write if no copies could be made.
	// Default false: it runs, and its result says so.
	SnapshotRequired bool `toml:"snapshot_required"`
	// MaxSnapshotBytes is how many bytes may be copied. Default 0, which means any
	// number.
	MaxSnapshotBytes int64 `toml:"max_snapshot_bytes"`
}

const (
	minOutputBytes = 4096
	minOutputChars = 1000

	defaultMaxTimeout = 600   // seconds
	highestMaxTimeout = 86400 // seconds
)

// Defaults returns the built-in values.
func Defaults() Config {
	return Config{
		Timeout: 30, MaxTimeout: defaultMaxTimeout, MaxOutputBytes: 100 << 20, MaxOutputChars: 50_000, MaxBackground: 8,
		TransactionScope: []string{"**"}, AutoRollbackExitCodes: []int{1, 2},
	}
}

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.Timeout < 0 {
		wrong["timeout"] = fmt.Sprintf("must be at least 0, which is no limit, is %d", c.Timeout)
	}
	if c.MaxTimeout < 1 || c.MaxTimeout > highestMaxTimeout {
		wrong["max_timeout"] = fmt.Sprintf("must be from 1 to %d seconds, is %d", highestMaxTimeout, c.MaxTimeout)
	}
	if c.MaxOutputBytes < minOutputBytes {
		wrong["max_output_bytes"] = fmt.Sprintf("must be at least %d, is %d", minOutputBytes, c.MaxOutputBytes)
	}
	if c.MaxOutputChars < minOutputChars {
		wrong["max_output_chars"] = fmt.Sprintf("must be at least %d, is %d", minOutputChars, c.MaxOutputChars)
	}
	if c.MaxBackground < 0 {
		wrong["max_background"] = fmt.Sprintf("must be at least 0, is %d", c.MaxBackground)
	}
	for _, glob := range c.TransactionScope {
		if !doublestar.ValidatePattern(glob) || path.IsAbs(glob) {
			wrong["transaction_scope"] = fmt.Sprintf("%q is not a glob relative to the session's directories", glob)
		}
	}
	for _, code := range c.AutoRollbackExitCodes {
		if code < 1 || code > 255 {
			wrong["auto_rollback_exit_codes"] = fmt.Sprintf("%d is not the exit code of a failure: they are 1 to 255", code)
		}
	}
	if c.MaxSnapshotBytes < 0 {
		wrong["max_snapshot_bytes"] = fmt.Sprintf("must be at least 0, which is any number, is %d", c.MaxSnapshotBytes)
	}
	if slices.Contains(c.EnvBlocklist, "") {
		wrong["env_blocklist"] = "must not contain an empty prefix"
	}
	return wrong
}

// Tighten adopts those values of a repository's file that lower a limit, block more
// variables or refuse more commands. It ignores the keys of transactions: a repository
// must not cause files to be removed by its choice of exit codes.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	lower := func(key string, ours *int, theirs, least int) {
		keys.Adopt(key, theirs == *ours || theirs >= least && theirs < *ours, func() { *ours = theirs })
	}
	tighten.LowerOptional(keys, "timeout", &c.Timeout, repo.Timeout)
	lower("max_timeout", &c.MaxTimeout, repo.MaxTimeout, 1)
	lower("max_output_bytes", &c.MaxOutputBytes, repo.MaxOutputBytes, minOutputBytes)
	lower("max_output_chars", &c.MaxOutputChars, repo.MaxOutputChars, minOutputChars)
	lower("max_background", &c.MaxBackground, repo.MaxBackground, 0)
	keys.Enable("snapshot_required", &c.SnapshotRequired, repo.SnapshotRequired)
	keys.Append("env_blocklist", &c.EnvBlocklist, repo.EnvBlocklist)
	return c
}
