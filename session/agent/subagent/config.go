package subagent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Config is the table [tools.sub_agent].
type Config struct {
	Enabled     bool `toml:"enabled" default:"true" tighten:"off" doc:"false: no sub-agents"`
	MaxParallel int  `toml:"max_parallel" default:"4" range:"1..16" tighten:"lower" unit:"sub-agents" doc:"that work at the same time"`
	MaxRounds   int  `toml:"max_rounds" default:"30" range:"1..200" tighten:"lower" unit:"rounds" doc:"of tool calls after which one ends"`
	executors.OutputLimit
}

// Type is a kind of sub-agent, such as one [[agents]].
type Type struct {
	Name        string   `toml:"name" doc:"unique: lower case letters, digits, - and _"`
	Description string   `toml:"description" doc:"when the main model should use it"`
	Prompt      string   `toml:"prompt" doc:"its instructions, appended to the session's"`
	Tools       []string `toml:"tools" doc:"the names of its tools; * stands for any text: github__*; default: all"`
	Model       string   `toml:"model" format:"model" doc:"provider or provider:model; default: the session's model"`
	// Worktree lets several sub-agents that change files work at the same time.
	Worktree bool `toml:"worktree" default:"false" doc:"true: it works in a copy of the project"`

	readsFiles bool // it has the tools that read files, and no others

	except []string // names of tools that it does not get
	file   string   // of the project, relative to its directory; empty if it is of the user
}

// Types are the entries [[agents]].
type Types []Type

// typeName matches the valid names of types: a name is a part of caller ids.
var typeName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)

const badName = "must consist of at most 40 lower case letters, digits, - and _"

// Validate returns a message for each wrong key.
func (types Types) Validate() map[string]string {
	wrong := map[string]string{}
	for i, t := range types {
		key := fmt.Sprintf("[%d].", i)
		if !typeName.MatchString(t.Name) {
			wrong[key+"name"] = fmt.Sprintf("%q %s", t.Name, badName)
		}
		if slices.ContainsFunc(types[:i], func(other Type) bool { return other.Name == t.Name }) {
			wrong[key+"name"] = fmt.Sprintf("%q is the name of another entry", t.Name)
		}
		for j, name := range t.Tools {
			if strings.ContainsAny(name, "()") {
				wrong[fmt.Sprintf("%stools[%d]", key, j)] = fmt.Sprintf("%q: a tool is offered as a whole; limit its calls by permission rules", name)
			}
		}
	}
	return wrong
}
