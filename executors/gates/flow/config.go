package flow

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Config is the table [tools.information_flow]. The gate is on by default: it needs no model
// and no file, and the calls that it asks about are few.
type Config struct {
	Enabled   bool     `toml:"enabled" default:"true" tighten:"on" doc:"ask before a session that has read secrets and text by strangers sends data out"`
	Untrusted []string `toml:"untrusted" tighten:"add" doc:"globs of files that strangers have written: vendor/**, *.eml"`
	// Private globs without a slash match a name at any depth.
	Private []string `toml:"private" default:".env*,*.pem,id_rsa*,id_ed25519*" tighten:"add" doc:"globs of files that must not leave, and MCP servers as mcp:NAME"`
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for key, list := range map[string][]string{"untrusted": c.Untrusted, "private": c.Private} {
		for i, pattern := range list {
			at := fmt.Sprintf("%s[%d]", key, i)
			switch {
			case key == "untrusted" && strings.HasPrefix(pattern, mcpPrefix):
				wrong[at] = "MCP servers are untrusted unless their entry has trust = \"trusted\""
			case pattern == "" || pattern == mcpPrefix || !doublestar.ValidatePattern(pattern):
				wrong[at] = fmt.Sprintf("%q is not a glob", pattern)
			}
		}
	}
	return wrong
}
