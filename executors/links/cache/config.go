package cache

import (
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.result_cache].
type Config struct {
	// Enabled keeps results of tools that only read, to return them again while
	// they are valid. Default true.
	Enabled bool `toml:"enabled"`
	// TTLSecs is how long a result is kept, in seconds. Default 300; 0 means for
	// the whole session.
	TTLSecs int `toml:"ttl_secs"`
}

// maxTTL is some years, in seconds: more does not fit a duration.
const maxTTL = 1 << 30

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, TTLSecs: 300} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.TTLSecs < 0 || c.TTLSecs > maxTTL {
		wrong["ttl_secs"] = fmt.Sprintf("must be from 0 to %d, is %d", maxTTL, c.TTLSecs)
	}
	return wrong
}

// Tighten lets the repository's file switch the cache off, and shorten the
// lifetime of results.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	tighten.LowerOptional(keys, "ttl_secs", &c.TTLSecs, repo.TTLSecs)
	return c
}

func (c Config) ttl() time.Duration { return time.Duration(c.TTLSecs) * time.Second }
