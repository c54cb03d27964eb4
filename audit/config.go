package audit

// Config is the table [audit].
type Config struct {
	Enabled  bool  `toml:"enabled" default:"true" doc:"record every tool call in audit.jsonl; see audit.md"`
	MaxBytes int64 `toml:"max_bytes" default:"100MiB" range:"0|1MiB.." zero:"no limit" unit:"bytes" doc:"of audit.jsonl before it is renamed to audit.jsonl.1"`
}
