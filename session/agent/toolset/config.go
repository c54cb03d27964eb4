package toolset

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// TAFC is the table [tools.tafc]: think-augmented function calling.
type TAFC struct {
	Enabled bool `toml:"enabled" default:"false" doc:"true: let the model think inside its calls of complex tools; see outputs.md"`
	// ComplexityThreshold below 0 or above 1 is treated as that limit, with a warning, and NaN
	// as the default: see complexity in tafc.go.
	ComplexityThreshold float64 `toml:"complexity_threshold" default:"0.6" needs:"enabled" doc:"score from which a tool is complex, 0 to 1"`
}

// defaultThreshold replaces a ComplexityThreshold that is no number.
const defaultThreshold = 0.6

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
	Auto Choice = "auto"  // seldom tools are left out, and those of MCP servers if all would fill the window
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
	// "auto", the model gets tool_search instead of the tools that few tasks need, and instead of
	// the tools of MCP servers when all tools take more than a tenth of its window.
	Enabled Choice `toml:"enabled" default:"auto" doc:"true: offer what fits the prompt; auto: see outputs.md"`
	// TopK does not count tools that are offered for other reasons.
	TopK int `toml:"top_k" default:"10" range:"0.." needs:"enabled" zero:"all" doc:"tools offered by their rank"`
	// MinDescriptionWords is because a short description does not show whether the tool fits.
	MinDescriptionWords int      `toml:"min_description_words" default:"3" range:"0.." needs:"enabled" unit:"words" doc:"of a description; tools with shorter ones are always offered"`
	AlwaysOn            []string `toml:"always_on" format:"filled" default:"bash,bash_output,bash_stop,read,write,edit,find_path,list_directory,grep,search_code,read_overflow,update_plan,ask_user,compress_context,load_skill,memory_save,memory_search" doc:"tools that are always offered"`
}

// Dependencies is the table [tools.dependencies].
type Dependencies struct {
	Enabled       bool            `toml:"enabled" default:"false" doc:"true: let tools wait for others, by [tools.dependencies.rules.TOOL]; see outputs.md"`
	BoostPerDep   float64         `toml:"boost_per_dep" default:"0.15" range:"0..1" needs:"enabled" doc:"added to a tool's score (0 to 1) for each completed tool of prefers"`
	MaxTotalBoost float64         `toml:"max_total_boost" default:"0.2" range:"0..1" needs:"enabled" doc:"limit of the sum"`
	Rules         map[string]Rule `toml:"rules" doc:"the rules by tool"`
}

// Rule lists the tools that another tool depends on.
type Rule struct {
	// Requires must have completed before the model is offered the tool and can call it.
	Requires []string `toml:"requires" format:"filled" doc:"tools that must have completed in the session"`
	Prefers  []string `toml:"prefers" format:"filled" doc:"tools whose completion raises its score in the filter"`
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
