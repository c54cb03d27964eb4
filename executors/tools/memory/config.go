package memory

// Config is the table [tools.memory].
type Config struct {
	Enabled    bool `toml:"enabled" default:"true" tighten:"off" doc:"false: neither memory_save nor memory_search"`
	Sessions   bool `toml:"sessions" default:"true" tighten:"off" doc:"memory_search also finds messages of the project's earlier sessions"`
	MaxEntries int  `toml:"max_entries" default:"1000" range:"0.." zero:"no limit" tighten:"limit" unit:"entries" doc:"of a project, and of those for all projects"`
}
