package question

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.ask_user].
type Config struct {
	// Enabled offers the tool ask_user. Default true.
	Enabled bool `toml:"enabled"`
	// MaxPerTurn is how many questions one turn may ask. Default 3, from 1 to 20.
	MaxPerTurn int `toml:"max_per_turn"`
}

const maxPerTurn = 20

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, MaxPerTurn: 3} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	if c.MaxPerTurn < 1 || c.MaxPerTurn > maxPerTurn {
		return map[string]string{"max_per_turn": fmt.Sprintf("must be from 1 to %d, is %d", maxPerTurn, c.MaxPerTurn)}
	}
	return nil
}

// Tighten adopts a repository's lower limit, and lets it switch the tool off.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	tighten.Lower(keys, "max_per_turn", &c.MaxPerTurn, repo.MaxPerTurn)
	return c
}
