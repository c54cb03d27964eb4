package filter

import (
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Config is the table [tools.filters].
type Config struct {
	// Enabled removes text that the model does not need from the output of
	// commands. Default true. If false, outputs are only sanitised.
	Enabled bool `toml:"enabled"`
	// FiltersPath is a file of rules that override the built-in ones. Default
	// empty: filters.toml in the directory of the configuration. A relative
	// path is relative to the file that sets it; ~/ is the home directory.
	FiltersPath string `toml:"filters_path"`
	// Security is the table [tools.filters.security].
	Security Security `toml:"security"`
}

// Security is the table [tools.filters.security].
type Security struct {
	// Enabled masks credentials in the results of every tool and warns of them.
	// Default true.
	Enabled bool `toml:"enabled"`
	// ExtraPatterns are regular expressions of further credentials, each at
	// most 512 characters long. If one has a group, only the match of the group
	// is masked. Default none.
	ExtraPatterns []string `toml:"extra_patterns"`
}

// maxExtraPatterns limits the patterns: each is tried on every line.
const maxExtraPatterns = 64

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Enabled: true, Security: Security{Enabled: true}}
}

// Validate returns a message for each invalid key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if n := len(c.Security.ExtraPatterns); n > maxExtraPatterns {
		wrong["security.extra_patterns"] = fmt.Sprintf("has %s; the limit is %d", quantity.Count(n, "pattern"), maxExtraPatterns)
	}
	for i, expr := range c.Security.ExtraPatterns {
		if _, err := redact.CheckPattern(expr); err != nil {
			wrong[fmt.Sprintf("security.extra_patterns[%d]", i)] = err.Error()
		}
	}
	return wrong
}

// Tighten adopts a repository's settings that show more of the output or fewer
// credentials.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	keys.Enable("security.enabled", &c.Security.Enabled, repo.Security.Enabled)
	more := slices.Concat(c.Security.ExtraPatterns, repo.Security.ExtraPatterns)
	keys.Adopt("security.extra_patterns", len(more) <= maxExtraPatterns, func() { c.Security.ExtraPatterns = more })
	return c
}
