package skills

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.skills].
type Config struct {
	// Enabled offers skills to the model. Default true.
	Enabled bool `toml:"enabled"`
	// Project asks about the skills of a repository, and offers those that were approved.
	// Default true; false ignores them.
	Project bool `toml:"project"`
	// MaxRounds is the number of rounds of tool calls after which an invoked skill ends.
	// Default 30, from 1 to 200.
	MaxRounds int `toml:"max_rounds"`
}

const maxRounds = 200

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, Project: true, MaxRounds: 30} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.MaxRounds < 1 || c.MaxRounds > maxRounds {
		wrong["max_rounds"] = fmt.Sprintf("must be from 1 to %d, is %d", maxRounds, c.MaxRounds)
	}
	return wrong
}

// Tighten adopts a repository's lower limit, and lets it switch skills off.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	keys.Disable("project", &c.Project, repo.Project)
	tighten.Lower(keys, "max_rounds", &c.MaxRounds, repo.MaxRounds)
	return c
}
