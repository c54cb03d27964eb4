package filter

import (
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Config is the table [tools.filters]. Without it, outputs are only sanitised.
type Config struct {
	Enabled bool `toml:"enabled" default:"true" tighten:"off" doc:"remove noise from a command's output; see filters.md"`
	// FiltersPath may be relative to the file that sets it; ~/ is the home directory.
	FiltersPath string   `toml:"filters_path" needs:"enabled" zero:"filters.toml in the usual directory of config.toml" doc:"rules on top of the built-in ones"`
	Security    Security `toml:"security"`
}

// Security is the table [tools.filters.security].
type Security struct {
	Enabled bool `toml:"enabled" default:"true" tighten:"on" doc:"mask credentials in the results of all tools, and warn"`
	// ExtraPatterns have at most 512 characters each. If one has a group, only the match of the
	// group is masked.
	ExtraPatterns []string `toml:"extra_patterns" doc:"regular expressions of more credentials"`
}

// maxExtraPatterns limits the patterns: each is tried on every line.
const maxExtraPatterns = 64

// Validate returns a message for each invalid key.
func (c Security) Validate() map[string]string {
	wrong := map[string]string{}
	if n := len(c.ExtraPatterns); n > maxExtraPatterns {
		wrong["extra_patterns"] = fmt.Sprintf("has %s; the limit is %d", quantity.Count(n, "pattern"), maxExtraPatterns)
	}
	for i, expr := range c.ExtraPatterns {
		if _, err := redact.CheckPattern(expr); err != nil {
			wrong[fmt.Sprintf("extra_patterns[%d]", i)] = err.Error()
		}
	}
	return wrong
}

// Tighten adopts the patterns of a repository up to the limit.
func (c *Security) Tighten(repo any, keys *setting.Keys) {
	more := slices.Concat(c.ExtraPatterns, repo.(Security).ExtraPatterns)
	keys.Adopt("extra_patterns", len(more) <= maxExtraPatterns, func() { c.ExtraPatterns = more })
}
