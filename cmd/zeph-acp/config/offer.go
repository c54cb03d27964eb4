package config

import (
	"github.com/zeph-acp/zeph-acp/executors/tighten"
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
}

// Validate returns no mistakes: the provider is looked up when it is first
// used.
func (Offer) Validate() map[string]string { return nil }

// Tighten accepts values that disable a feature. It ignores summarize_provider:
// outputs go only to a model that the user named.
func (o Offer) Tighten(repo Offer, keys *tighten.Keys) Offer {
	keys.Disable("enabled", &o.Enabled, repo.Enabled)
	keys.Disable("summarize_output", &o.SummarizeOutput, repo.SummarizeOutput)
	return o
}
