package toolset

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// TAFC is the table [tools.tafc]: think-augmented function calling.
type TAFC struct {
	// Enabled adds a parameter to complex tools, in which the model thinks
	// before it fills in the others. Default false.
	Enabled bool `toml:"enabled"`
	// ComplexityThreshold is the score from which a tool counts as complex; see
	// complexity in tafc.go. Default 0.6. A value below 0 or above 1 is treated as that
	// limit, and NaN as the default.
	ComplexityThreshold float64 `toml:"complexity_threshold"`
}

// defaultThreshold is the default of ComplexityThreshold.
const defaultThreshold = 0.6

// TAFCDefaults returns the defaults of the table.
func TAFCDefaults() TAFC { return TAFC{ComplexityThreshold: defaultThreshold} }

// Validate returns no mistakes: an invalid threshold is replaced, with a
// warning.
func (TAFC) Validate() map[string]string { return nil }

// threshold returns the effective threshold, and warnings for the user.
func (c TAFC) threshold() (float64, []string) {
	limited := min(max(c.ComplexityThreshold, 0), 1)
	if math.IsNaN(c.ComplexityThreshold) || math.IsInf(c.ComplexityThreshold, 0) {
		limited = defaultThreshold
	}
	if limited == c.ComplexityThreshold || !c.Enabled {
		return limited, nil
	}
	return limited, []string{fmt.Sprintf("tools.tafc.complexity_threshold = %v is not from 0 to 1: it is treated as %v.", c.ComplexityThreshold, limited)}
}

// Choice is a value of Filter.Enabled.
type Choice string

// The choices.
const (
	Auto Choice = "auto"  // tools of MCP servers are left out if all would fill the window
	On   Choice = "true"  // the tools that fit the prompt are offered
	Off  Choice = "false" // all tools are offered
)

// UnmarshalText parses a choice.
func (c *Choice) UnmarshalText(text []byte) error {
	switch v := Choice(text); v {
	case Auto, On, Off:
		*c = v
		return nil
	}
	return fmt.Errorf(`must be "auto", true or false, not %q`, text)
}

// AcceptsBool lets the configuration have booleans in its place.
func (*Choice) AcceptsBool() {}

// Filter is the table [agent.tool_filter].
type Filter struct {
	// If Enabled is true, the model is offered only the tools that fit the prompt. With
	// "auto", the model gets tool_search instead of the tools of MCP servers when all
	// tools take more than a tenth of its window. Default "auto".
	Enabled Choice `toml:"enabled"`
	// TopK is the number of tools that are offered by their rank, in addition
	// to those offered for other reasons. Default 10; 0 means all.
	TopK int `toml:"top_k"`
	// MinDescriptionWords is the length of a description, in words, from which
	// the filter may omit the tool. A shorter one does not show whether the
	// tool fits. Default 3.
	MinDescriptionWords int `toml:"min_description_words"`
	// AlwaysOn are the tools that are always offered. Default: the essential
	// tools for a project, and those that results of others mention.
	AlwaysOn []string `toml:"always_on"`
}

// FilterDefaults returns the defaults of the table.
func FilterDefaults() Filter {
	return Filter{Enabled: Auto, TopK: 10, MinDescriptionWords: 3, AlwaysOn: []string{
		"bash", "bash_output", "bash_stop", "read", "write", "edit", "find_path", "list_directory", "grep", "search_code",
		"read_overflow", "update_plan", "ask_user", "compress_context", "load_skill", "memory_save", "memory_search",
	}}
}

// Validate returns the mistakes, by key.
func (c Filter) Validate() map[string]string {
	wrong := map[string]string{}
	if c.TopK < 0 {
		wrong["top_k"] = fmt.Sprintf("%d is less than 0", c.TopK)
	}
	if c.MinDescriptionWords < 0 {
		wrong["min_description_words"] = fmt.Sprintf("%d is less than 0", c.MinDescriptionWords)
	}
	if slices.Contains(c.AlwaysOn, "") {
		wrong["always_on"] = "a tool's name is empty"
	}
	return wrong
}

// Dependencies is the table [tools.dependencies].
type Dependencies struct {
	// Enabled hides tools until others have completed. Default false.
	Enabled bool `toml:"enabled"`
	// BoostPerDep is added to a tool's score, which is from 0 to 1, for each
	// completed tool of Prefers. Default 0.15.
	BoostPerDep float64 `toml:"boost_per_dep"`
	// MaxTotalBoost is the limit of their sum. Default 0.2.
	MaxTotalBoost float64 `toml:"max_total_boost"`
	// Rules are the rules by tool. Default: no rules.
	Rules map[string]Rule `toml:"rules"`
}

// Rule lists the tools that another tool depends on.
type Rule struct {
	// Requires are tools that must have completed in this session before the
	// model is offered the tool and can call it.
	Requires []string `toml:"requires"`
	// Prefers are tools whose completion raises the tool's rank in the filter.
	Prefers []string `toml:"prefers"`
}

// DependenciesDefaults returns the defaults of the table.
func DependenciesDefaults() Dependencies {
	return Dependencies{BoostPerDep: 0.15, MaxTotalBoost: 0.20}
}

// Validate returns the mistakes, by key.
func (c Dependencies) Validate() map[string]string {
	wrong := map[string]string{}
	for key, v := range map[string]float64{"boost_per_dep": c.BoostPerDep, "max_total_boost": c.MaxTotalBoost} {
		if !(v >= 0 && v <= 1) { // also false for NaN
			wrong[key] = fmt.Sprintf("%v is not from 0 to 1", v)
		}
	}
	for name, r := range c.Rules {
		if slices.Contains(r.Requires, "") {
			wrong["rules."+name+".requires"] = "a tool's name is empty"
		}
		if slices.Contains(r.Prefers, "") {
			wrong["rules."+name+".prefers"] = "a tool's name is empty"
		}
	}
	return wrong
}

// unknown warns of tools in the rules that do not exist.
func (c Dependencies) unknown(known func(name string) bool) []string {
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(c.Rules)) {
		if !known(name) {
			notes = append(notes, fmt.Sprintf("tools.dependencies.rules.%s has no effect: there is no tool %s.", name, name))
			continue
		}
		for _, other := range c.Rules[name].Requires {
			if !known(other) {
				notes = append(notes, fmt.Sprintf("tools.dependencies.rules.%s requires %s, and there is no such tool: %s stays hidden.", name, other, name))
			}
		}
		for _, other := range c.Rules[name].Prefers {
			if !known(other) {
				notes = append(notes, fmt.Sprintf("tools.dependencies.rules.%s prefers %s, and there is no such tool.", name, other))
			}
		}
	}
	return notes
}
