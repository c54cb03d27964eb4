package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.information_flow].
type Config struct {
	// Enabled labels the session by the sources that it has read, and asks before a session with
	// both labels sends data out. Default true: it needs no model and no file, and such calls are
	// few.
	Enabled bool `toml:"enabled"`
	// Untrusted are globs of files that strangers write, such as "vendor/**". Default
	// none.
	Untrusted []string `toml:"untrusted"`
	// Private are globs of files that must not leave, and MCP servers as "mcp:NAME".
	// A glob without a slash matches a name at any depth. Default: the usual files
	// of secrets.
	Private []string `toml:"private"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Enabled: true, Private: []string{".env*", "*.pem", "id_rsa*", "id_ed25519*"}}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for key, list := range map[string][]string{"untrusted": c.Untrusted, "private": c.Private} {
		for _, pattern := range list {
			if pattern == "" || pattern == mcpPrefix || !doublestar.ValidatePattern(pattern) {
				wrong[key] = fmt.Sprintf("%q is not a glob", pattern)
			}
		}
	}
	if slices.ContainsFunc(c.Untrusted, func(p string) bool { return strings.HasPrefix(p, mcpPrefix) }) {
		wrong["untrusted"] = "MCP servers are untrusted unless their entry has trust = \"trusted\""
	}
	return wrong
}

// Tighten adds the patterns of a repository's file, and can switch the gate on.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Enable("enabled", &c.Enabled, repo.Enabled)
	keys.Append("untrusted", &c.Untrusted, repo.Untrusted)
	keys.Append("private", &c.Private, repo.Private)
	return c
}
