package permission

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
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
			for member, text := range r.validate() {
				wrong[fmt.Sprintf("permissions.%s[%d].%s", tool, i, member)] = text
			}
		}
	}
	return wrong
}

// WrongExamples returns a message for each example that contradicts its rule, by key. tools returns
// the tools that rules may name; it is only called if there are examples.
func (c Config) WrongExamples(tools func() []executors.Tool) map[string]string {
	wrong := map[string]string{}
	for tool, rules := range c.Permissions {
		for i, r := range rules {
			if _, err := wildcard.Compile(r.Pattern); err != nil || r.Pattern == "" || len(r.Match)+len(r.NotMatch) == 0 {
				continue
			}
			for member, text := range r.wrongExamples(subjectOf(tool, tools())) {
				wrong[fmt.Sprintf("permissions.%s[%d].%s", tool, i, member)] = text
			}
		}
	}
	return wrong
}

// subjectOf returns what the tool acts on that the key of a rule names, by a name of today or by an
// earlier one.
func subjectOf(key string, tools []executors.Tool) executors.SubjectKind {
	t, _ := executors.FindBy(tools, func(t executors.Tool) bool { return t.Name == key || executors.Lists(t.Names.Earlier, key) })
	return t.Subject.Of
}

// validate returns a message for each invalid member of a rule.
func (r Rule) validate() map[string]string {
	wrong := map[string]string{}
	if r.Pattern == "" {
		wrong["pattern"] = `is empty: "*" matches everything`
	} else if _, err := wildcard.Compile(r.Pattern); err != nil {
		wrong["pattern"] = err.Error()
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

// underNames returns the rules by the names that the tools have today.
func underNames(byTool map[string][]Rule, tools []executors.Tool) map[string][]Rule {
	out := maps.Clone(byTool)
	for _, t := range tools {
		for earlier := range strings.FieldsSeq(t.Names.Earlier) {
			if rules, ok := byTool[earlier]; ok {
				out[t.Name] = slices.Concat(out[t.Name], rules)
				delete(out, earlier)
			}
		}
	}
	return out
}

// rulesFor returns the rules of a tool, then those whose key is a pattern that matches it.
func rulesFor(byTool map[string][]Rule, tool string) []Rule {
	out := byTool[tool]
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
	ConfirmPatterns []string `toml:"confirm_patterns" format:"filled" tighten:"add" doc:"strings in a command that always cause a question, whatever a rule says"`
}

// isDot reports whether dir is the session's own directory: ".", however written.
func isDot(dir string) bool { return dir != "" && filepath.Clean(dir) == "." }
