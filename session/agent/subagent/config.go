package subagent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Config is the table [tools.sub_agent].
type Config struct {
	// Enabled offers the tool sub_agent. Default true.
	Enabled bool `toml:"enabled"`
	// MaxParallel is how many sub-agents of a session work at the same time. Default 4, from
	// 1 to 16.
	MaxParallel int `toml:"max_parallel"`
	// MaxRounds is the number of rounds of tool calls after which a sub-agent ends. Default
	// 30, from 1 to 200.
	MaxRounds int `toml:"max_rounds"`
}

const (
	maxParallel = 16
	maxRounds   = 200
)

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, MaxParallel: 4, MaxRounds: 30} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.MaxParallel < 1 || c.MaxParallel > maxParallel {
		wrong["max_parallel"] = fmt.Sprintf("must be from 1 to %d, is %d", maxParallel, c.MaxParallel)
	}
	if c.MaxRounds < 1 || c.MaxRounds > maxRounds {
		wrong["max_rounds"] = fmt.Sprintf("must be from 1 to %d, is %d", maxRounds, c.MaxRounds)
	}
	return wrong
}

// Tighten adopts a repository's lower limits, and lets it switch the tool off.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	tighten.Lower(keys, "max_parallel", &c.MaxParallel, repo.MaxParallel)
	tighten.Lower(keys, "max_rounds", &c.MaxRounds, repo.MaxRounds)
	return c
}

// Type is a kind of sub-agent, such as one [[agents]].
type Type struct {
	// Name is the name of the type, unique: lower case letters, digits, "-" and "_".
	Name string `toml:"name"`
	// Description says what the sub-agent is for. The main model chooses a type by it. It is
	// empty by default.
	Description string `toml:"description"`
	// Prompt are the instructions of the sub-agent, below those of the session. Default
	// none.
	Prompt string `toml:"prompt"`
	// Tools are the names of its tools, with "*" for any text. Default all that the session
	// has.
	Tools []string `toml:"tools"`
	// Model is its model, "provider:model". Default empty: the session's.
	Model string `toml:"model"`
	// Worktree lets each sub-agent of the type work in a copy of the project, so that
	// several that change files work at the same time. Default false.
	Worktree bool `toml:"worktree"`

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
		key := fmt.Sprintf("agents[%d].", i)
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
