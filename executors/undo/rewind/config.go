package rewind

// Config is the table [tools.rewind].
type Config struct {
	Enabled  bool `toml:"enabled" default:"true" tighten:"off" doc:"keep the files that each turn changes, so that /rewind can restore them"`
	MaxTurns int  `toml:"max_turns" default:"20" range:"1..1000" tighten:"lower" unit:"turns" doc:"of a session that can be rewound"`
}
