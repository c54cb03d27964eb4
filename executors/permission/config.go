package permission

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// Config is the part of the table [tools] about permissions.
type Config struct {
	// Permissions are the rules of each tool, [[tools.permissions.TOOL]]. The
	// first rule that matches decides. Default none.
	Permissions map[string][]Rule `toml:"permissions"`

	// repository holds the rules of the workspace's own file. They are a
	// separate source, which never allows a call.
	repository map[string][]Rule
}

// Defaults returns the default settings.
func Defaults() Config { return Config{} }

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
	} else if !slices.Contains([]Action{Allow, Ask, Deny}, r.Action) {
		wrong["action"] = fmt.Sprintf("%q is not one of allow, ask, deny", r.Action)
	}
	return wrong
}

// Tighten adopts the deny and ask rules of the repository's file.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	if !keys.Has("permissions") {
		return c
	}
	c.repository = map[string][]Rule{}
	for _, tool := range slices.Sorted(maps.Keys(repo.Permissions)) {
		for i, r := range repo.Permissions[tool] {
			if r.Action == Deny || r.Action == Ask {
				c.repository[tool] = append(c.repository[tool], r)
			} else {
				keys.Ignore(fmt.Sprintf("permissions.%s[%d]", tool, i))
			}
		}
	}
	return c
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
	// BlockedCommands are blocked in addition to the built-in ones, even if a
	// rule allows them. An entry is a program, or a program and its first words
	// ("git push"). Default none.
	BlockedCommands []string `toml:"blocked_commands"`
	// AllowedCommands are built-in blocked programs, or curl and wget, to treat like any other
	// program. BlockedCommands take precedence. Default none.
	AllowedCommands []string `toml:"allowed_commands"`
	// AllowNetwork, if false, blocks curl and wget. Default true.
	AllowNetwork bool `toml:"allow_network"`
	// OutsidePaths says how to treat a command that names a file outside the
	// roots: block or ask. Default block.
	OutsidePaths string `toml:"outside_paths"`
	// AllowedPaths are directories, apart from the session's, in which commands
	// may name files. They are absolute or begin with "~/"; "." is the
	// session's own directory and adds nothing. File tools stay in the
	// session's directories. Default none.
	AllowedPaths []string `toml:"allowed_paths"`
	// ConfirmPatterns are texts that make a command need permission, even if a
	// rule allows it. Letter case is ignored. Default none.
	ConfirmPatterns []string `toml:"confirm_patterns"`
}

// ShellDefaults returns the default settings.
func ShellDefaults() ShellRules { return ShellRules{AllowNetwork: true, OutsidePaths: "block"} }

// Validate returns a message for each invalid value, by key.
func (c ShellRules) Validate() map[string]string {
	wrong := map[string]string{}
	if c.OutsidePaths != "block" && c.OutsidePaths != "ask" {
		wrong["outside_paths"] = fmt.Sprintf("%q is not one of block, ask", c.OutsidePaths)
	}
	for key, list := range map[string][]string{
		"blocked_commands": c.BlockedCommands, "allowed_commands": c.AllowedCommands, "confirm_patterns": c.ConfirmPatterns,
	} {
		if slices.ContainsFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			wrong[key] = "has an empty entry"
		}
	}
	for i, dir := range c.AllowedPaths {
		home := dir == "~" || strings.HasPrefix(dir, "~/")
		if !filepath.IsAbs(dir) && !home && !isDot(dir) || strings.ContainsRune(dir, 0) {
			wrong[fmt.Sprintf("allowed_paths[%d]", i)] = fmt.Sprintf("%q is not an absolute path, nor one that begins with ~/", dir)
		}
	}
	return wrong
}

// isDot reports whether dir is the session's own directory: ".", however written.
func isDot(dir string) bool { return dir != "" && filepath.Clean(dir) == "." }

// Tighten adopts the settings that block more or ask more.
func (c ShellRules) Tighten(repo ShellRules, keys *tighten.Keys) ShellRules {
	keys.Append("blocked_commands", &c.BlockedCommands, repo.BlockedCommands)
	keys.Append("confirm_patterns", &c.ConfirmPatterns, repo.ConfirmPatterns)
	keys.Disable("allow_network", &c.AllowNetwork, repo.AllowNetwork)
	keys.Adopt("outside_paths", repo.OutsidePaths == "block" || repo.OutsidePaths == c.OutsidePaths,
		func() { c.OutsidePaths = repo.OutsidePaths })
	return c
}
