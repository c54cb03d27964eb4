package cache

import (
	"fmt"
	"time"
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
// lifetime of results. It returns the keys of that file that it ignored.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	if has("enabled") && !repo.Enabled {
		c.Enabled = false
	} else if has("enabled") && !c.Enabled {
		ignored = append(ignored, "enabled")
	}
	switch {
	case !has("ttl_secs"):
	case repo.TTLSecs == c.TTLSecs, repo.TTLSecs > 0 && (c.TTLSecs == 0 || repo.TTLSecs < c.TTLSecs):
		c.TTLSecs = repo.TTLSecs
	default:
		ignored = append(ignored, "ttl_secs")
	}
	return c, ignored
}

func (c Config) ttl() time.Duration { return time.Duration(c.TTLSecs) * time.Second }
