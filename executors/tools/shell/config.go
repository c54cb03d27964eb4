package shell

import (
	"fmt"
	"path"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Config is the part of [tools.shell] about running commands. A repository cannot set the
// keys of transactions: its choice of exit codes must not cause files to be removed.
type Config struct {
	Timeout int `toml:"timeout" default:"30" range:"0.." zero:"no limit" tighten:"limit" unit:"seconds" doc:"for a command that runs here"`
	// OnTimeout does not hold for the user's own commands, which have no limit, nor for commands that are undone when they fail.
	OnTimeout  string `toml:"on_timeout" default:"background" oneof:"kill,background" tighten:"earlier" doc:"what happens to a command that takes longer; in the background it goes on"`
	MaxTimeout int    `toml:"max_timeout" default:"600" range:"1..86400" tighten:"lower" unit:"seconds" doc:"after which a command that went on in the background is stopped; the longest timeout that a call may request"`
	// MaxOutputBytes bounds the disk that an output takes, in a temporary file if it is long.
	MaxOutputBytes int `toml:"max_output_bytes" default:"100MiB" range:"4096.." tighten:"lower" unit:"bytes" doc:"of a command's output that the disk keeps; the middle of a longer one is dropped"`
	executors.OutputLimit
	// EnvBlocklist adds to the variables that are always hidden: variables named like secrets,
	// and providers' variables.
	EnvBlocklist  []string `toml:"env_blocklist" format:"filled" tighten:"add" doc:"prefixes of more variables to hide from commands"`
	MaxBackground int      `toml:"max_background" default:"8" range:"0.." zero:"no background commands" tighten:"lower" unit:"background commands" doc:"at once"`

	Transactional bool `toml:"transactional" default:"false" needs:"auto_rollback" doc:"true, with auto_rollback: restore the files after a failed command; see shell.md"`
	// TransactionScope is relative to the session's directories. Files in .git are never restored.
	TransactionScope      []string `toml:"transaction_scope" default:"**" needs:"transactional&auto_rollback" doc:"globs of the files that are copied and restored"`
	AutoRollback          bool     `toml:"auto_rollback" default:"false" needs:"transactional" doc:"true, with transactional: restore the files after a failed command"`
	AutoRollbackExitCodes []int    `toml:"auto_rollback_exit_codes" default:"1,2" range:"1..255" needs:"transactional&auto_rollback" doc:"exit codes that count as failed; 124: a timeout"`
	SnapshotRequired      bool     `toml:"snapshot_required" default:"false" needs:"transactional&auto_rollback" tighten:"on" doc:"true: refuse a command if its files cannot be copied first"`
}

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for _, glob := range c.TransactionScope {
		if !doublestar.ValidatePattern(glob) || path.IsAbs(glob) {
			wrong["transaction_scope"] = fmt.Sprintf("%q is not a glob relative to the session's directories", glob)
		}
	}
	return wrong
}
