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
	// before it fills the others. Default false.
	Enabled bool `toml:"enabled"`
	// ComplexityThreshold is the score from which on a tool is complex; see
	// Complexity. Default 0.6; what lies outside of 0 to 1 is taken for the nearer
	// of the two, and what is no number for the default.
	ComplexityThreshold float64 `toml:"complexity_threshold"`
}

// defaultThreshold is the score from which on a tool is complex.
const defaultThreshold = 0.6

// TAFCDefaults returns the defaults of the table.
func TAFCDefaults() TAFC { return TAFC{ComplexityThreshold: defaultThreshold} }

// Validate finds nothing wrong: a threshold that cannot be is replaced, with a
// warning.
func (TAFC) Validate() map[string]string { return nil }

// Tighten takes nothing over: more words to think in are no restriction.
func (c TAFC) Tighten(_ TAFC, has func(key string) bool) (TAFC, []string) {
	return c, given(has, "enabled", "complexity_threshold")
}

// threshold returns the threshold that holds, and what the user must know of it.
func (c TAFC) threshold() (float64, []string) {
	held := min(max(c.ComplexityThreshold, 0), 1)
	if math.IsNaN(c.ComplexityThreshold) || math.IsInf(c.ComplexityThreshold, 0) {
		held = defaultThreshold
	}
	if held == c.ComplexityThreshold || !c.Enabled {
		return held, nil
	}
	return held, []string{fmt.Sprintf("tools.tafc.complexity_threshold = %v is not from 0 to 1: it is taken for %v.", c.ComplexityThreshold, held)}
}

// Filter is the table [agent.tool_filter].
type Filter struct {
	// Enabled offers the model only the tools that fit the prompt. Default false.
	Enabled bool `toml:"enabled"`
	// TopK is how many tools are offered because they fit, besides those that are
	// offered for another reason. Default 10; 0 means all.
	TopK int `toml:"top_k"`
	// MinDescriptionWords is how many words a description must have for the tool
	// to be left out: of one that says less no one can tell whether it fits.
	// Default 3.
	MinDescriptionWords int `toml:"min_description_words"`
	// AlwaysOn are the tools that are always offered. Default: those without which
	// no work on a project goes on, and those that results of others name.
	AlwaysOn []string `toml:"always_on"`
}

// FilterDefaults returns the defaults of the table.
func FilterDefaults() Filter {
	return Filter{TopK: 10, MinDescriptionWords: 3, AlwaysOn: []string{
		"bash", "bash_output", "bash_stop", "read", "write", "edit", "find_path", "list_directory", "grep", "read_overflow", "update_plan", "compress_context", "load_skill",
	}}
}

// Validate returns what is wrong, by key.
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

// Tighten takes nothing over: which tools the model knows of is no question of
// what it may do.
func (c Filter) Tighten(_ Filter, has func(key string) bool) (Filter, []string) {
	return c, given(has, "enabled", "top_k", "min_description_words", "always_on")
}

// Dependencies is the table [tools.dependencies].
type Dependencies struct {
	// Enabled makes tools wait for others. Default false.
	Enabled bool `toml:"enabled"`
	// BoostPerDep is what each tool of Prefers that completed adds to a tool's
	// score, which is from 0 to 1. Default 0.15.
	BoostPerDep float64 `toml:"boost_per_dep"`
	// MaxTotalBoost is the most that they add together. Default 0.2.
	MaxTotalBoost float64 `toml:"max_total_boost"`
	// Rules are by tool. Default: none.
	Rules map[string]Rule `toml:"rules"`
}

// Rule is what a tool waits for.
type Rule struct {
	// Requires are tools that must have completed in this session before the model
	// is offered the tool, and before it can call it.
	Requires []string `toml:"requires"`
	// Prefers are tools whose completion makes it likelier that the filter picks
	// the tool.
	Prefers []string `toml:"prefers"`
}

// DependenciesDefaults returns the defaults of the table.
func DependenciesDefaults() Dependencies {
	return Dependencies{BoostPerDep: 0.15, MaxTotalBoost: 0.20}
}

// Validate returns what is wrong, by key.
func (c Dependencies) Validate() map[string]string {
	wrong := map[string]string{}
	for key, v := range map[string]float64{"boost_per_dep": c.BoostPerDep, "max_total_boost": c.MaxTotalBoost} {
		if !(v >= 0 && v <= 1) { // nor is NaN
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

// Tighten takes nothing over: a rule that makes a tool wait for another also makes
// the model call that other one.
func (c Dependencies) Tighten(_ Dependencies, has func(key string) bool) (Dependencies, []string) {
	return c, given(has, "enabled", "boost_per_dep", "max_total_boost", "rules")
}

// unknown warns of tools in the rules that there are not.
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

// given lists the keys that a file has.
func given(has func(key string) bool, keys ...string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return !has(key) })
}
