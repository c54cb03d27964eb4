package hooks

import "fmt"

// Config is the table [tools.hooks].
type Config struct {
	Enabled        bool `toml:"enabled" default:"true" doc:"run hooks; see hooks.md"`
	TimeoutSecs    int  `toml:"timeout_secs" default:"60" range:"1..3600" unit:"seconds" doc:"for a hook that names no timeout, at most max_timeout_secs"`
	MaxTimeoutSecs int  `toml:"max_timeout_secs" default:"600" range:"1..3600" unit:"seconds" doc:"for any hook"`
}

// Validate returns a message if the two timeouts disagree.
func (c Config) Validate() map[string]string {
	if c.TimeoutSecs <= c.MaxTimeoutSecs {
		return nil
	}
	return map[string]string{"timeout_secs": fmt.Sprintf("must be at most max_timeout_secs, %d, is %d", c.MaxTimeoutSecs, c.TimeoutSecs)}
}
