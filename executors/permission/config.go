package permission

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// Config is the part of the table [tools] about permissions.
type Config struct {
	Permissions map[string][]Rule `toml:"permissions" doc:"the rules of each tool; the first one that matches decides"`

	// repository holds the rules of the workspace's own file. They are a
	// separate source, which never allows a call.
	repository map[string][]Rule
}

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for tool, rules := range c.Permissions {
		if _, err := wildcard.Compile(tool); err != nil {
			wrong["permissions."+tool] = err.Error()
		}
		for i, r := range rules {
			for member, text := range r.validate(tool) {
				wrong[fmt.Sprintf("permissions.%s[%d].%s", tool, i, member)] = text
			}
		}
	}
	return wrong
}

// validate returns a message for each invalid member of a rule for a tool.
func (r Rule) validate(tool string) map[string]string {
	wrong := map[string]string{}
	if r.Pattern == "" {
		wrong["pattern"] = `is empty: "*" matches everything`
	} else if _, err := wildcard.Compile(r.Pattern); err != nil {
		wrong["pattern"] = err.Error()
	} else {
		maps.Copy(wrong, r.wrongExamples(tool))
	}
	if r.Action == "" {
		wrong["action"] = "is missing: allow, ask or deny"
	}
	return wrong
}

// Tighten adopts the deny and ask rules of the repository's file.
func (c *Config) Tighten(repo any, keys *setting.Keys) {
	if !keys.Has("permissions") {
		return
	}
	theirs := repo.(Config).Permissions
	c.repository = map[string][]Rule{}
	for _, tool := range slices.Sorted(maps.Keys(theirs)) {
		for i, r := range theirs[tool] {
			if r.Action == Deny || r.Action == Ask {
				c.repository[tool] = append(c.repository[tool], r)
			} else {
				keys.Ignore(fmt.Sprintf("permissions.%s[%d]", tool, i))
			}
		}
	}
}

// oldToolNames are the names of tools in older configurations.
var oldToolNames = map[string]string{"bash": "shell", "find_path": "glob"}

// equivalentTools maps a tool to another one that would show the same content. A rule that
// denies the other tool also denies the first.
var equivalentTools = map[string]string{"search_code": "grep"}

// rulesFor returns the rules of a tool under all its names, then those whose key is a
// pattern that matches it.
func rulesFor(byTool map[string][]Rule, tool string) []Rule {
	out := byTool[tool]
	if old, ok := oldToolNames[tool]; ok {
		out = append(slices.Clone(out), byTool[old]...)
	}
	for _, key := range slices.Sorted(maps.Keys(byTool)) {
		if !strings.Contains(key, "*") {
			continue
		}
		if re, err := wildcard.Compile(key); err == nil && re.MatchString(tool) {
			out = append(slices.Clip(out), byTool[key]...)
		}
	}
	return out
}

// ShellRules is the part of the table [tools.shell] about the commands that may
// run.
type ShellRules struct {
	// BlockedCommands hold even if a rule allows them.
	BlockedCommands []string `toml:"blocked_commands" format:"filled" tighten:"add" doc:"more commands that never run: a program, or a program with its first words"`
	// AllowedCommands yield to BlockedCommands.
	AllowedCommands []string `toml:"allowed_commands" format:"filled" doc:"built-in blocked programs, or curl and wget, to treat like any other program"`
	AllowNetwork    bool     `toml:"allow_network" default:"true" tighten:"off" doc:"false: curl and wget never run; fetch and web_scrape still ask"`
	OutsidePaths    string   `toml:"outside_paths" default:"block" oneof:"block,ask" tighten:"earlier" doc:"commands that name files outside the workspace"`
	// AllowedPaths do not widen the file tools. "." is the session's own directory and adds
	// nothing.
	AllowedPaths []string `toml:"allowed_paths" format:"directory" doc:"more directories in which commands may name files, absolute or ~/"`
	// ConfirmPatterns ignore letter case.
	ConfirmPatterns []string `toml:"confirm_patterns" format:"filled" tighten:"add" doc:"texts in a command that always cause a question, whatever a rule says"`
}

// isDot reports whether dir is the session's own directory: ".", however written.
func isDot(dir string) bool { return dir != "" && filepath.Clean(dir) == "." }
