package audit

// Config is the table [audit].
type Config struct {
	// Enabled records calls. Default true.
	Enabled bool `toml:"enabled"`
	// MaxBytes is the size, in bytes, at which the log is renamed to audit.jsonl.1,
	// which replaces the previous file of that name. Default 104857600 (100 MiB),
	// at least 1048576; 0 means no limit.
	MaxBytes int64 `toml:"max_bytes"`
}

// minBytes is the smallest MaxBytes: the history must outlast a session.
const minBytes = 1 << 20

// Defaults returns the built-in values.
func Defaults() Config { return Config{Enabled: true, MaxBytes: 100 << 20} }

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	if c.MaxBytes != 0 && c.MaxBytes < minBytes {
		return map[string]string{"max_bytes": "must be 0, for no limit, or at least 1048576"}
	}
	return nil
}
