package question

// Config is the table [tools.ask_user].
type Config struct {
	Enabled    bool `toml:"enabled" default:"true" tighten:"off" doc:"offer the tool"`
	MaxPerTurn int  `toml:"max_per_turn" default:"3" range:"1..20" tighten:"lower" unit:"questions" doc:"of one turn"`
}
