package rewind

// Config is the table [tools.rewind].
type Config struct {
	Enabled  bool `toml:"enabled" default:"true" tighten:"off" doc:"keep the files that each turn changes, so that /rewind can restore them"`
	MaxTurns int  `toml:"max_turns" default:"20" range:"1..1000" tighten:"lower" unit:"turns" doc:"of a session that can be rewound"`
	// MaxFiles of 0 leaves out all changes of commands.
	MaxFiles     int   `toml:"max_files" default:"50000" range:"0..1000000" zero:"only files that commands name" tighten:"lower" doc:"the most files of a workspace in which changes by commands are found"`
	MaxBytes     int64 `toml:"max_bytes" default:"512MiB" range:"0.." tighten:"lower" unit:"bytes" doc:"kept for one workspace, and at most for one turn"`
	MaxFileBytes int64 `toml:"max_file_bytes" default:"16MiB" range:"0.." tighten:"lower" unit:"bytes" doc:"of the largest file that is kept"`
}
