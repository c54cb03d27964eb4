package filter

import (
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// Config is the table [tools.filters].
type Config struct {
	// Enabled takes out of a command's output what the model does not need.
	// Default true; without it outputs are sanitised, and no more.
	Enabled bool `toml:"enabled"`
	// FiltersPath is a file of rules over the built-in ones. Default empty:
	// filters.toml in the directory of the configuration. A relative path is
	// relative to the file that says it; ~/ is the home directory.
	FiltersPath string `toml:"filters_path"`
	// Security is the table [tools.filters.security].
	Security Security `toml:"security"`
}

// Security is the table [tools.filters.security].
type Security struct {
	// Enabled masks credentials in what every tool gives, and warns of them.
	// Default true.
	Enabled bool `toml:"enabled"`
	// ExtraPatterns are regular expressions of further credentials, each at most
	// 512 characters. Of one with a group, the value is what that matches.
	// Default none.
	ExtraPatterns []string `toml:"extra_patterns"`
}

// maxExtra bounds the patterns, of which each is tried on every line.
const maxExtra = 64

// Defaults gives the settings that hold where nothing else is said.
func Defaults() Config {
	return Config{Enabled: true, Security: Security{Enabled: true}}
}

// Validate tells for each wrong key what is wrong with it.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if n := len(c.Security.ExtraPatterns); n > maxExtra {
		wrong["security.extra_patterns"] = fmt.Sprintf("has %d patterns, and %d is the most", n, maxExtra)
	}
	for i, expr := range c.Security.ExtraPatterns {
		if _, err := redact.CheckPattern(expr); err != nil {
			wrong[fmt.Sprintf("security.extra_patterns[%d]", i)] = err.Error()
		}
	}
	return wrong
}

// Tighten takes over from a repository's file what shows more of what a command
// wrote, and less of credentials. It returns the keys that the file set and that
// were not taken.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	switch {
	case !has("enabled"):
	case repo.Enabled && !c.Enabled:
		ignored = append(ignored, "enabled")
	default:
		c.Enabled = repo.Enabled
	}
	if has("filters_path") {
		ignored = append(ignored, "filters_path")
	}
	switch {
	case !has("security.enabled"):
	case !repo.Security.Enabled && c.Security.Enabled:
		ignored = append(ignored, "security.enabled")
	default:
		c.Security.Enabled = repo.Security.Enabled
	}
	if has("security.extra_patterns") {
		more := slices.Concat(c.Security.ExtraPatterns, repo.Security.ExtraPatterns)
		if len(more) > maxExtra {
			ignored = append(ignored, "security.extra_patterns")
		} else {
			c.Security.ExtraPatterns = more
		}
	}
	return c, ignored
}
