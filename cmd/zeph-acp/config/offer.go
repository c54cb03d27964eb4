package config

// Offer is the part of the table [tools] that concerns all tools.
type Offer struct {
	// Enabled also refuses a tool call written as a prompt if it is false.
	Enabled         bool `toml:"enabled" default:"true" tighten:"off" doc:"false: no tools for the model, and no /TOOL"`
	SummarizeOutput bool `toml:"summarize_output" default:"false" tighten:"off" doc:"true: a model summarizes outputs over tools.overflow.threshold; see outputs.md"`
	// SummarizeProvider is the user's alone: outputs go only to a model that the user named.
	SummarizeProvider string `toml:"summarize_provider" format:"model" needs:"summarize_output" zero:"the session's model" doc:"the model that summarizes, provider or provider:model"`
	// MaxOutputChars is tools.overflow.threshold by default if that is higher.
	MaxOutputChars int `toml:"max_output_chars" default:"50000" range:"1000.." tighten:"lower" unit:"characters" doc:"of a tool's text for model and editor, where no key of the tool says otherwise"`
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
