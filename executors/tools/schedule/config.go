package schedule

import (
	"fmt"
	"time"
)

// Config is the table [tools.scheduler]: which tasks may be set, and how they run.
type Config struct {
	Enabled            bool   `toml:"enabled" default:"true" tighten:"off" doc:"false: no tools, and this process runs no tasks"`
	MaxTasks           int    `toml:"max_tasks" default:"100" range:"1..10000" tighten:"lower" unit:"tasks" doc:"that have not ended, of all projects together"`
	MinIntervalMinutes int    `toml:"min_interval_minutes" default:"5" range:"1..10080" tighten:"raise" unit:"minutes" doc:"between two runs of a task, at the least"`
	MaxRunMinutes      int    `toml:"max_run_minutes" default:"30" range:"1..10080" unit:"minutes" doc:"that a run may take"`
	MaxRounds          int    `toml:"max_rounds" default:"100" range:"1..10000" tighten:"lower" unit:"rounds" doc:"of tool calls after which a run ends"`
	Provider           string `toml:"provider" format:"model" zero:"the model of the session that set the task" doc:"the model for the prompts of tasks, provider or provider:model"`
	Timezone           string `toml:"timezone" zero:"the time zone of the machine" doc:"the time zone of run_at and cron, such as Europe/Berlin"`
}

// Validate returns a message for an unknown time zone.
func (c Config) Validate() map[string]string {
	if _, err := time.LoadLocation(c.Timezone); err != nil {
		return map[string]string{"timezone": fmt.Sprintf("%q is not the name of a time zone, such as Europe/Berlin", c.Timezone)}
	}
	return nil
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
