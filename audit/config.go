package audit

// Config is the table [audit].
type Config struct {
	// Enabled says whether calls are recorded. Default true.
	Enabled bool `toml:"enabled"`
	// MaxBytes is how large the log may grow before it becomes audit.jsonl.1, in
	// bytes; the file of that name before is then gone. Default 104857600 (100
	// MiB), at least 1048576; 0 means that it grows for ever.
	MaxBytes int64 `toml:"max_bytes"`
}

// minBytes is the least MaxBytes: the history must outlast a session.
const minBytes = 1 << 20

// Defaults gives the settings that hold where nothing else is said.
func Defaults() Config { return Config{Enabled: true, MaxBytes: 100 << 20} }

// Validate tells for each wrong key what is wrong with it.
func (c Config) Validate() map[string]string {
	if c.MaxBytes != 0 && c.MaxBytes < minBytes {
		return map[string]string{"max_bytes": "must be 0, for no limit, or at least 1048576"}
	}
	return nil
}

// Tighten takes nothing over: a repository has no say in what is on record.
func (c Config) Tighten(_ Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	for _, key := range []string{"enabled", "max_bytes"} {
		if has(key) {
			ignored = append(ignored, key)
		}
	}
	return c, ignored
}
