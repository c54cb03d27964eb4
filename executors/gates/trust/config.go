package trust

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.trust].
type Config struct {
	// Enabled judges calls by the levels. Default true: with the other defaults it
	// changes no call until a level is set, or anomaly detection blocks a tool.
	Enabled bool `toml:"enabled"`
	// Skills is the level of the user's skills. Default trusted.
	Skills Level `toml:"skills"`
	// Servers is the level of MCP servers whose entry has no trust = "trusted".
	// Default provisional.
	Servers Level `toml:"servers"`
	// Content is the level of web pages. Default provisional.
	Content Level `toml:"content"`
	// Levels are the levels of single subjects: "tool:NAME", "server:NAME",
	// "skill:NAME" or "content". Default none.
	Levels map[string]Level `toml:"levels"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Enabled: true, Skills: Trusted, Servers: Provisional, Content: Provisional}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for name := range c.Levels {
		if subject, err := subjectOf(name); err != nil || subject != name {
			wrong["levels"] = fmt.Sprintf("%q is not a subject, such as tool:bash, server:NAME, skill:NAME or content", name)
		}
	}
	return wrong
}

// Tighten adopts the lower levels of a repository's file, and can switch the gate on.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Enable("enabled", &c.Enabled, repo.Enabled)
	tighten.Lower(keys, "skills", &c.Skills, repo.Skills)
	tighten.Lower(keys, "servers", &c.Servers, repo.Servers)
	tighten.Lower(keys, "content", &c.Content, repo.Content)
	ours := New(c)
	c.Levels = maps.Clone(c.Levels)
	for _, subject := range slices.Sorted(maps.Keys(repo.Levels)) {
		keys.Adopt("levels", repo.Levels[subject] <= ours.configured(subject), func() {
			if c.Levels == nil {
				c.Levels = map[string]Level{}
			}
			c.Levels[subject] = repo.Levels[subject]
		})
	}
	return c
}
