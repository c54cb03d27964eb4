package config

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Offer is the part of the table [tools] that concerns all tools.
type Offer struct {
	// Enabled offers the tools to the model. Default true. If false, the model
	// gets no tools, and a tool call written as a prompt is refused with that
	// reason.
	Enabled bool `toml:"enabled"`
	// SummarizeOutput lets a model summarize outputs that are too long for the
	// caller of the tool. Default false: only head and tail are kept.
	SummarizeOutput bool `toml:"summarize_output"`
	// SummarizeProvider is the model that summarizes, "provider" or
	// "provider:model". Default empty: the session's model.
	SummarizeProvider string `toml:"summarize_provider"`
	// MaxOutputChars is how many characters of one tool's text the model and the
	// editor get. Default 50000, at least 1000, or tools.overflow.threshold if that is
	// higher. A key of one tool replaces it for that tool.
	MaxOutputChars int `toml:"max_output_chars"`
}

const (
	defaultOutputChars = 50_000
	minOutputChars     = 1000
)

// Validate returns the mistakes, by key. The provider is looked up when it is first used.
func (o Offer) Validate() map[string]string {
	if o.MaxOutputChars < minOutputChars {
		return map[string]string{"max_output_chars": fmt.Sprintf("must be at least %d, is %d", minOutputChars, o.MaxOutputChars)}
	}
	return nil
}

// outputLimits are the limits of single tools, by their path. Those that are not set are
// equal to tools.max_output_chars.
func (c *Config) outputLimits() map[string]*int {
	return map[string]*int{
		"tools.shell.max_output_chars":  &c.Tools.Shell.MaxOutputChars,
		"tools.scrape.max_output_chars": &c.Tools.Scrape.MaxOutputChars,
		"tools.file.max_read_chars":     &c.Tools.File.MaxReadChars,
		thresholdKey:                    &c.Tools.Overflow.Threshold,
	}
}

const thresholdKey = "tools.overflow.threshold"

// inheritOutputLimit sets the limits of single tools that the configuration does not set.
func (c *Config) inheritOutputLimit(isSet func(path string) bool) {
	if !isSet("tools.max_output_chars") && isSet(thresholdKey) {
		c.Tools.MaxOutputChars = max(c.Tools.MaxOutputChars, c.Tools.Overflow.Threshold)
	}
	for path, limit := range c.outputLimits() {
		if !isSet(path) {
			*limit = c.Tools.MaxOutputChars
		}
	}
}

// capOutput lowers the limits of single tools to a limit of all tools.
func (c *Config) capOutput(limit int) {
	for _, own := range c.outputLimits() {
		*own = min(*own, limit)
	}
}

// Tighten accepts values that disable a feature. It ignores summarize_provider:
// outputs go only to a model that the user named.
func (o Offer) Tighten(repo Offer, keys *tighten.Keys) Offer {
	keys.Disable("enabled", &o.Enabled, repo.Enabled)
	keys.Disable("summarize_output", &o.SummarizeOutput, repo.SummarizeOutput)
	keys.Adopt("max_output_chars", minOutputChars <= repo.MaxOutputChars && repo.MaxOutputChars <= o.MaxOutputChars, func() {
		o.MaxOutputChars = repo.MaxOutputChars
	})
	return o
}
