package hooks

// Config is the table [tools.hooks].
type Config struct {
	Enabled     bool `toml:"enabled" default:"true" doc:"run hooks; see hooks.md"`
	TimeoutSecs int  `toml:"timeout_secs" default:"60" range:"1..3600" unit:"seconds" doc:"for a hook that names no timeout"`
}

// maxTimeout is the longest timeout of a hook, in seconds.
const maxTimeout = 3600
