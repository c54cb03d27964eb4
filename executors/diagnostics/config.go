package diagnostics

import "fmt"

// Config bounds one call of diagnostics. It is the table [tools.diagnostics].
type Config struct {
	// Timeout is how long all programs of one call may take together, in
	// seconds. Default 120; 0 means no limit.
	Timeout int `toml:"timeout"`
	// MaxDiagnostics is how many diagnostics one call returns at most; a call
	// may ask for fewer. Default 50, from 1 to 500.
	MaxDiagnostics int `toml:"max_diagnostics"`
}

const maxDiagnostics = 500 // a frame holds them twice, and more would not help

// Defaults returns the default settings.
func Defaults() Config { return Config{Timeout: 120, MaxDiagnostics: 50} }

// Validate returns a message for each invalid key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.Timeout < 0 {
		wrong["timeout"] = fmt.Sprintf("must be a number of seconds, or 0 for no limit, is %d", c.Timeout)
	}
	if c.MaxDiagnostics < 1 || c.MaxDiagnostics > maxDiagnostics {
		wrong["max_diagnostics"] = fmt.Sprintf("must be from 1 to %d, is %d", maxDiagnostics, c.MaxDiagnostics)
	}
	return wrong
}

// Tighten applies the lower limits of a repository's file. It returns the keys that
// the file set and that were ignored.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	lower := func(key string, mine *int, theirs int, noLimit bool) {
		switch {
		case !has(key) || theirs == *mine:
		case theirs >= 1 && (theirs < *mine || noLimit):
			*mine = theirs
		default:
			ignored = append(ignored, key)
		}
	}
	lower("timeout", &c.Timeout, repo.Timeout, c.Timeout == 0)
	lower("max_diagnostics", &c.MaxDiagnostics, repo.MaxDiagnostics, false)
	return c, ignored
}
