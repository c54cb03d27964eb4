package schedule

import (
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.scheduler]: which tasks may be set, and how they run.
type Config struct {
	// Enabled offers the tools and runs tasks. Default true.
	Enabled bool `toml:"enabled"`
	// MaxTasks is how many tasks may be due at some time, of all projects together.
	// Default 100.
	MaxTasks int `toml:"max_tasks"`
	// MinIntervalMinutes is the least time between two runs of a task, in minutes.
	// Default 5.
	MinIntervalMinutes int `toml:"min_interval_minutes"`
	// MaxRunMinutes is how long a run may take, in minutes. Default 30.
	MaxRunMinutes int `toml:"max_run_minutes"`
	// Provider is the provider, or PROVIDER:MODEL, that answers the prompts of tasks. Default
	// empty: for each task, the model of the session that set it.
	Provider string `toml:"provider"`
	// Timezone is the IANA name of the time zone in which times are read, such as
	// Europe/Berlin. Default empty: the machine's time zone.
	Timezone string `toml:"timezone"`
}

// The largest values of limits.
const (
	maxTasks   = 10_000
	maxMinutes = 7 * 24 * 60
)

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Enabled: true, MaxTasks: 100, MinIntervalMinutes: 5, MaxRunMinutes: 30}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for _, limit := range []struct {
		key         string
		value, most int
	}{
		{"max_tasks", c.MaxTasks, maxTasks},
		{"min_interval_minutes", c.MinIntervalMinutes, maxMinutes},
		{"max_run_minutes", c.MaxRunMinutes, maxMinutes},
	} {
		if limit.value < 1 || limit.value > limit.most {
			wrong[limit.key] = fmt.Sprintf("must be from 1 to %d, is %d", limit.most, limit.value)
		}
	}
	if _, err := time.LoadLocation(c.Timezone); err != nil {
		wrong["timezone"] = fmt.Sprintf("%q is not the name of a time zone, such as Europe/Berlin", c.Timezone)
	}
	return wrong
}

// Tighten adopts the lower limits of a repository's file for the tasks that are set in it.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	tighten.Lower(keys, "max_tasks", &c.MaxTasks, repo.MaxTasks)
	keys.Adopt("min_interval_minutes", repo.MinIntervalMinutes >= c.MinIntervalMinutes,
		func() { c.MinIntervalMinutes = repo.MinIntervalMinutes })
	return c
}

// Location returns the time zone in which times are read.
func (c Config) Location() *time.Location {
	if c.Timezone == "" {
		return time.Local
	}
	loc, err := time.LoadLocation(c.Timezone)
	if err != nil { // it was valid at the start
		return time.Local
	}
	return loc
}
