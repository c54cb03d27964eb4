package memory

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.memory].
type Config struct {
	// Enabled offers memory_save and memory_search. Default true.
	Enabled bool `toml:"enabled"`
	// Sessions lets memory_search also find messages of the project's earlier sessions.
	// Default true.
	Sessions bool `toml:"sessions"`
	// MaxEntries is the largest number of entries of a project, and of those for all
	// projects. Default 1000; 0: no limit.
	MaxEntries int `toml:"max_entries"`
}

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, Sessions: true, MaxEntries: 1000} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	if c.MaxEntries < 0 {
		return map[string]string{"max_entries": fmt.Sprintf("must be at least 0, is %d", c.MaxEntries)}
	}
	return nil
}

// Tighten lets a repository switch the memory off, and lower the limit.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	keys.Disable("sessions", &c.Sessions, repo.Sessions)
	tighten.LowerOptional(keys, "max_entries", &c.MaxEntries, repo.MaxEntries)
	return c
}
