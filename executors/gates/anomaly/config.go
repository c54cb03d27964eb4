package anomaly

// Config is the table [tools.anomaly].
type Config struct {
	Enabled          bool    `toml:"enabled" default:"true" tighten:"on" doc:"watch how often the calls of each tool fail"`
	WindowSize       int     `toml:"window_size" default:"20" range:"3..1000" unit:"latest calls" doc:"of a tool that count; half as many, and at least 3, if all have failed"`
	FailureThreshold float64 `toml:"failure_threshold" default:"0.7" range:"0..1" tighten:"lower" doc:"share of failed calls above which the tool is blocked"`
	// AutoBlock blocks such a tool until /trust reset.
	AutoBlock bool `toml:"auto_block" default:"true" tighten:"on" doc:"false: only warn"`
}

// minCalls returns the number of calls after which a tool is checked that has always failed.
func (c Config) minCalls() int { return max(3, c.WindowSize/2) }
