package shell

import (
	"fmt"
	"slices"
)

// Config is what [tools.shell] says of running commands.
type Config struct {
	// Timeout is how long one command may run, in seconds. Default 30; 0 means
	// no limit.
	Timeout int `toml:"timeout"`
	// MaxOutputBytes is how many bytes of a command's output are kept in memory,
	// half from its beginning and half from its end, and how many are streamed
	// while it runs. Default 1 MiB, at least 4096.
	MaxOutputBytes int `toml:"max_output_bytes"`
	// MaxOutputChars is how many characters of output the model and the editor
	// get. Default 50,000, at least 1000.
	MaxOutputChars int `toml:"max_output_chars"`
	// EnvBlocklist adds prefixes of variables that commands must not see, besides
	// those named like secrets and those of providers. Default none.
	EnvBlocklist []string `toml:"env_blocklist"`
}

const (
	minBytes = 4096
	minChars = 1000
)

// Defaults gives the built-in values.
func Defaults() Config {
	return Config{Timeout: 30, MaxOutputBytes: 1 << 20, MaxOutputChars: 50_000}
}

// Validate names what is wrong, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.Timeout < 0 {
		wrong["timeout"] = "must be a number of seconds, or 0 for no limit"
	}
	if c.MaxOutputBytes < minBytes {
		wrong["max_output_bytes"] = fmt.Sprintf("must be at least %d", minBytes)
	}
	if c.MaxOutputChars < minChars {
		wrong["max_output_chars"] = fmt.Sprintf("must be at least %d", minChars)
	}
	if slices.Contains(c.EnvBlocklist, "") {
		wrong["env_blocklist"] = "must not contain an empty prefix"
	}
	return wrong
}

// Tighten takes over from a repository's file what lowers a limit or blocks more
// variables, and names the keys that it ignored.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	lower := func(key string, mine *int, theirs, least int) {
		switch {
		case !has(key) || theirs == *mine:
		case theirs >= least && (theirs < *mine || *mine == 0):
			*mine = theirs
		default:
			ignored = append(ignored, key)
		}
	}
	lower("timeout", &c.Timeout, repo.Timeout, 1)
	lower("max_output_bytes", &c.MaxOutputBytes, repo.MaxOutputBytes, minBytes)
	lower("max_output_chars", &c.MaxOutputChars, repo.MaxOutputChars, minChars)
	if has("env_blocklist") {
		c.EnvBlocklist = slices.Concat(c.EnvBlocklist, repo.EnvBlocklist)
	}
	return c, ignored
}
