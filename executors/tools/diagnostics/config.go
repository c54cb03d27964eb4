package diagnostics

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config bounds one call of diagnostics. It is the table [tools.diagnostics].
type Config struct {
	// Timeout is how long all programs of one call may take together, in
	// seconds. Default 120; 0 means no limit.
	Timeout int `toml:"timeout"`
	// MaxDiagnostics is how many diagnostics one call returns at most; a call
	// may ask for fewer. Default 50, from 1 to 500.
	MaxDiagnostics int `toml:"max_diagnostics"`
}

const maxDiagnostics = 500 // a frame contains them twice, and a model cannot use more

// Defaults returns the default settings.
func Defaults() Config { return Config{Timeout: 120, MaxDiagnostics: 50} }

// Validate returns a message for each invalid key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.Timeout < 0 {
		wrong["timeout"] = fmt.Sprintf("must be at least 0, which is no limit, is %d", c.Timeout)
	}
	if c.MaxDiagnostics < 1 || c.MaxDiagnostics > maxDiagnostics {
		wrong["max_diagnostics"] = fmt.Sprintf("must be from 1 to %d, is %d", maxDiagnostics, c.MaxDiagnostics)
	}
	return wrong
}

// Tighten adopts the lower limits of a repository's file.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	tighten.LowerOptional(keys, "timeout", &c.Timeout, repo.Timeout)
	theirs := repo.MaxDiagnostics
	keys.Adopt("max_diagnostics", theirs == c.MaxDiagnostics || theirs >= 1 && theirs < c.MaxDiagnostics,
		func() { c.MaxDiagnostics = theirs })
	return c
}
