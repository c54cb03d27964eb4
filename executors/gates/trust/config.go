package trust

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Config is the table [tools.trust]. With its defaults the gate changes no call until a level
// is set, or anomaly detection blocks a tool.
type Config struct {
	Enabled bool  `toml:"enabled" default:"true" tighten:"on" doc:"check calls by the trust in their tool and in the text that the turn has read"`
	Skills  Level `toml:"skills" default:"trusted" tighten:"lower" doc:"level of your skills: blocked, untrusted, provisional or trusted"`
	Servers Level `toml:"servers" default:"provisional" tighten:"lower" doc:"level of MCP servers whose entry has no trust = trusted"`
	Content Level `toml:"content" default:"provisional" tighten:"lower" doc:"level of web pages"`
	// Levels are the levels of single subjects: "tool:NAME", "server:NAME",
	// "skill:NAME" or "content".
	Levels map[string]Level `toml:"levels" doc:"levels of single tools, servers and skills"`
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

// Tighten adopts the lower levels of single subjects.
func (c *Config) Tighten(repo any, keys *setting.Keys) {
	theirs, ours := repo.(Config).Levels, New(*c)
	c.Levels = maps.Clone(c.Levels)
	for _, subject := range slices.Sorted(maps.Keys(theirs)) {
		keys.Adopt("levels", theirs[subject] <= ours.configured(subject), func() {
			if c.Levels == nil {
				c.Levels = map[string]Level{}
			}
			c.Levels[subject] = theirs[subject]
		})
	}
}
