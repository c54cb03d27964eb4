package cache

import "time"

// Config is the table [tools.result_cache].
type Config struct {
	Enabled bool `toml:"enabled" default:"true" tighten:"off" doc:"reuse the results of reading calls while they are valid"`
	// TTLSecs is bounded by some years: more does not fit a duration.
	TTLSecs int `toml:"ttl_secs" default:"300" range:"0..1073741824" zero:"as long as the session is open" tighten:"limit" unit:"seconds" doc:"for which a result may be reused"`
}

func (c Config) ttl() time.Duration { return time.Duration(c.TTLSecs) * time.Second }
