package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.sandbox].
type Config struct {
	// Enabled runs commands in the sandbox. On systems without one it only causes a
	// warning. Default false.
	Enabled bool `toml:"enabled"`
	// Required refuses commands that the sandbox cannot restrict, and runs no
	// command in the client's terminals. It implies Enabled. Default false.
	Required bool `toml:"required"`
	// Caches lets commands write the caches of build tools in the home
	// directory, without which most of them fail. Default true.
	Caches bool `toml:"caches"`
	// ExtraWrite are files and directories that commands may write, in addition
	// to the session's directories and the temporary ones. They are absolute or
	// begin with "~/". Default none.
	ExtraWrite []string `toml:"extra_write"`
}

// Defaults returns the built-in values.
func Defaults() Config { return Config{Caches: true} }

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

// Tighten adopts settings of a repository's file that switch the sandbox on or
// restrict it further.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Enable("enabled", &c.Enabled, repo.Enabled)
	keys.Enable("required", &c.Required, repo.Required)
	keys.Disable("caches", &c.Caches, repo.Caches)
	if keys.Has("extra_write") {
		if slices.ContainsFunc(repo.ExtraWrite, func(path string) bool { return !slices.Contains(c.ExtraWrite, path) }) {
			keys.Ignore("extra_write")
		}
		c.ExtraWrite = slices.DeleteFunc(slices.Clone(c.ExtraWrite), func(path string) bool {
			return !slices.Contains(repo.ExtraWrite, path)
		})
	}
	return c
}
