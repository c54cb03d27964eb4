package skills

// Config is the table [tools.skills].
type Config struct {
	Enabled   bool `toml:"enabled" default:"true" tighten:"off" doc:"offer skills to the model"`
	Project   bool `toml:"project" default:"true" tighten:"off" doc:"ask about the skills of a repository; false: ignore them"`
	MaxRounds int  `toml:"max_rounds" default:"30" range:"1..200" tighten:"lower" unit:"rounds" doc:"of tool calls after which an invoked skill ends"`
}
