package rewind

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.rewind].
type Config struct {
	// Enabled keeps the files that each turn changes, so that /rewind can restore
	// them. Default true.
	Enabled bool `toml:"enabled"`
	// MaxTurns is how many turns of a session can be rewound. Default 20, from 1 to
	// 1000.
	MaxTurns int `toml:"max_turns"`
	// MaxFiles is how many files the workspace may have for the changes of commands
	// to be found. Default 50,000, at most 1,000,000; 0 leaves out all changes of commands.
	MaxFiles int `toml:"max_files"`
	// MaxBytes is how many bytes of files are kept for one workspace, and at most for
	// one turn. Default 512 MiB.
	MaxBytes int64 `toml:"max_bytes"`
	// MaxFileBytes is the largest file that is kept. Default 16 MiB.
	MaxFileBytes int64 `toml:"max_file_bytes"`
}

const (
	maxTurns = 1000
	maxFiles = 1_000_000
)

// Defaults returns the built-in values.
func Defaults() Config {
	return Config{Enabled: true, MaxTurns: 20, MaxFiles: 50_000, MaxBytes: 512 << 20, MaxFileBytes: 16 << 20}
}

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.MaxTurns < 1 || c.MaxTurns > maxTurns {
		wrong["max_turns"] = fmt.Sprintf("must be from 1 to %d, is %d", maxTurns, c.MaxTurns)
	}
	if c.MaxFiles < 0 || c.MaxFiles > maxFiles {
		wrong["max_files"] = fmt.Sprintf("must be from 0 to %d, is %d", maxFiles, c.MaxFiles)
	}
	if c.MaxBytes < 0 {
		wrong["max_bytes"] = fmt.Sprintf("must be at least 0, is %d", c.MaxBytes)
	}
	if c.MaxFileBytes < 0 {
		wrong["max_file_bytes"] = fmt.Sprintf("must be at least 0, is %d", c.MaxFileBytes)
	}
	return wrong
}

// Tighten adopts the lower limits of a repository: fewer copies of its files are
// then made.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	tighten.Lower(keys, "max_turns", &c.MaxTurns, repo.MaxTurns)
	tighten.Lower(keys, "max_files", &c.MaxFiles, repo.MaxFiles)
	tighten.Lower(keys, "max_bytes", &c.MaxBytes, repo.MaxBytes)
	tighten.Lower(keys, "max_file_bytes", &c.MaxFileBytes, repo.MaxFileBytes)
	return c
}
