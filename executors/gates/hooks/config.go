package hooks

import "fmt"

// Config is the table [tools.hooks].
type Config struct {
	// Enabled runs hooks. Default true.
	Enabled bool `toml:"enabled"`
	// TimeoutSecs is the time limit of a hook that sets no timeout, in seconds.
	// Default 60.
	TimeoutSecs int `toml:"timeout_secs"`
	// MaxTimeoutSecs limits the timeouts that hooks set, in seconds. Default 600.
	MaxTimeoutSecs int `toml:"max_timeout_secs"`
}

// maxTimeout is the largest value of both timeouts.
const maxTimeout = 3600

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, TimeoutSecs: 60, MaxTimeoutSecs: 600} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for key, n := range map[string]int{"timeout_secs": c.TimeoutSecs, "max_timeout_secs": c.MaxTimeoutSecs} {
		if n < 1 || n > maxTimeout {
			wrong[key] = fmt.Sprintf("must be from 1 to %d, is %d", maxTimeout, n)
		}
	}
	if len(wrong) == 0 && c.TimeoutSecs > c.MaxTimeoutSecs {
		wrong["timeout_secs"] = fmt.Sprintf("must be at most max_timeout_secs, %d, is %d", c.MaxTimeoutSecs, c.TimeoutSecs)
	}
	return wrong
}
