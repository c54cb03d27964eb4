package skills

import "github.com/zeph-acp/zeph-acp/executors/tighten"

// Config is the table [tools.skills].
type Config struct {
	// Enabled offers skills to the model. Default true.
	Enabled bool `toml:"enabled"`
	// Project asks about the skills of a repository, and offers those that were approved.
	// Default true; false ignores them.
	Project bool `toml:"project"`
}

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, Project: true} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string { return nil }

// Tighten lets a repository switch skills off. It returns the keys of its file that it
// ignored.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	keys := tighten.New(has)
	keys.Adopt("enabled", !repo.Enabled || c.Enabled, func() { c.Enabled = repo.Enabled })
	keys.Adopt("project", !repo.Project || c.Project, func() { c.Project = repo.Project })
	return c, keys.Ignored()
}
