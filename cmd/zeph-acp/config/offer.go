package config

// Offer is the part of the table [tools] that concerns all tools.
type Offer struct {
	// Enabled also refuses a tool call written as a prompt if it is false.
	Enabled         bool `toml:"enabled" default:"true" tighten:"off" doc:"false: no tools for the model, and no /TOOL"`
	SummarizeOutput bool `toml:"summarize_output" default:"false" tighten:"off" doc:"true: a model summarizes outputs over max_output_chars; see outputs.md"`
	// SummarizeProvider is the user's alone: outputs go only to a model that the user named.
	SummarizeProvider string `toml:"summarize_provider" format:"model" needs:"summarize_output" zero:"the session's model" doc:"the model that summarizes, provider or provider:model"`
	MaxOutputChars    int    `toml:"max_output_chars" default:"50000" range:"200.." tighten:"lower" unit:"characters" doc:"of a result's text for model and editor; the tables of tools may override it, see outputs.md"`
	ResultBudget      int    `toml:"result_budget" default:"16000" range:"0|2000.." zero:"no budget" unit:"characters" doc:"over which a command's failures, diffs and logs keep only what matters most; see outputs.md"`
}

// outputLimits are the limits of single tools, by the path of their table.
func (c *Config) outputLimits() map[string]*int {
	return map[string]*int{
		"tools.shell":       &c.Tools.Shell.MaxOutputChars,
		"tools.file":        &c.Tools.File.MaxOutputChars,
		"tools.scrape":      &c.Tools.Scrape.MaxOutputChars,
		"tools.diagnostics": &c.Tools.Diagnostics.MaxOutputChars,
		"tools.sub_agent":   &c.Tools.SubAgent.MaxOutputChars,
	}
}

// inheritOutputLimit makes tools.max_output_chars the limit of the tools for which no limit is set.
func (c *Config) inheritOutputLimit(isSet func(path string) bool) {
	for table, limit := range c.outputLimits() {
		if !isSet(table + ".max_output_chars") {
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
