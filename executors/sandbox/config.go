package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// Config is the table [tools.sandbox].
type Config struct {
	Enabled  bool `toml:"enabled" default:"false" tighten:"on" doc:"true: confine the commands that run here, with Landlock (Linux); see sandbox.md"`
	Required bool `toml:"required" default:"false" tighten:"on" doc:"true: refuse commands that cannot be confined, and use no terminal of the editor"`
	Caches   bool `toml:"caches" default:"true" needs:"enabled|required" tighten:"off" doc:"commands may write to the caches of build tools"`
	// ExtraWrite are absolute or begin with "~/".
	ExtraWrite []string `toml:"extra_write" needs:"enabled|required" tighten:"remove" doc:"more directories that commands may write to, absolute or ~/"`
}

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for _, path := range c.ExtraWrite {
		rest, home := strings.CutPrefix(path, "~/")
		switch {
		case strings.ContainsRune(path, 0):
			wrong["extra_write"] = "must not contain a NUL"
		case !home && !filepath.IsAbs(path):
			wrong["extra_write"] = "must hold absolute paths or paths that begin with ~/; " + path + " is neither"
		case home && filepath.Clean(rest) == ".", !home && filepath.Dir(filepath.Clean(path)) == filepath.Clean(path):
			wrong["extra_write"] = path + " leaves nothing to protect; name the directories in it that commands write"
		case slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".."):
			wrong["extra_write"] = path + " must not contain .."
		}
	}
	return wrong
}
