package config

// Offer is the part of the table [tools] that is about all tools.
type Offer struct {
	// Enabled offers the model tools. Default true; false: it has none, and a
	// prompt that spells one out is told so.
	Enabled bool `toml:"enabled"`
	// SummarizeOutput has a model sum up what is too long for the one that called
	// the tool. Default false: head and tail alone.
	SummarizeOutput bool `toml:"summarize_output"`
	// SummarizeProvider is the model that does, "provider" or "provider:model".
	// Default empty: the session's.
	SummarizeProvider string `toml:"summarize_provider"`
}

// Validate finds nothing wrong: whether a provider is there is seen when it is
// needed.
func (Offer) Validate() map[string]string { return nil }

// Tighten takes over what switches something off. An output may go to no model
// that the user has not named.
func (o Offer) Tighten(repo Offer, has func(key string) bool) (Offer, []string) {
	var ignored []string
	off := func(key string, theirs bool, ours *bool) {
		switch {
		case !has(key):
		case theirs && !*ours:
			ignored = append(ignored, key)
		default:
			*ours = theirs
		}
	}
	off("enabled", repo.Enabled, &o.Enabled)
	off("summarize_output", repo.SummarizeOutput, &o.SummarizeOutput)
	if has("summarize_provider") {
		ignored = append(ignored, "summarize_provider")
	}
	return o, ignored
}
