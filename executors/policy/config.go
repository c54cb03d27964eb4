package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Config is what the table [tools] says of permissions.
type Config struct {
	// Permissions are the rules of each tool, [[tools.permissions.TOOL]]; the
	// first that matches counts. Default none.
	Permissions map[string][]Rule `toml:"permissions"`

	// repository are the rules of the workspace's own file: a source of its
	// own, which never allows.
	repository map[string][]Rule
}

// Defaults is the configuration that nobody changed.
func Defaults() Config { return Config{} }

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for tool, rules := range c.Permissions {
		for i, r := range rules {
			key := fmt.Sprintf("permissions.%s[%d]", tool, i)
			if r.Pattern == "" {
				wrong[key+".pattern"] = `is empty: "*" matches everything`
			} else if _, err := glob(r.Pattern); err != nil {
				wrong[key+".pattern"] = err.Error()
			}
			if !slices.Contains([]Action{Allow, Ask, Deny}, r.Action) {
				wrong[key+".action"] = fmt.Sprintf("%q is not one of allow, ask, deny", r.Action)
			}
		}
	}
	return wrong
}

// Tighten takes over the deny and ask rules of the repository's file. It returns
// the keys that it left alone.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	if !has("permissions") {
		return c, nil
	}
	var ignored []string
	c.repository = map[string][]Rule{}
	for tool, rules := range repo.Permissions {
		for i, r := range rules {
			if r.Action == Deny || r.Action == Ask {
				c.repository[tool] = append(c.repository[tool], r)
			} else {
				ignored = append(ignored, fmt.Sprintf("permissions.%s[%d]", tool, i))
			}
		}
	}
	slices.Sort(ignored)
	return c, ignored
}

// oldNames are the names of tools in older configurations.
var oldNames = map[string]string{"bash": "shell", "find_path": "glob"}

// rules returns the rules of a tool under all its names.
func rules(of map[string][]Rule, tool string) []Rule {
	out := of[tool]
	if old, ok := oldNames[tool]; ok {
		out = append(slices.Clone(out), of[old]...)
	}
	return out
}

// ShellRules is the part of the table [tools.shell] that says what may run.
type ShellRules struct {
	// BlockedCommands are blocked besides the built-in ones, whatever a rule
	// says: a program, or a program and its first words ("git push"). Default
	// none.
	BlockedCommands []string `toml:"blocked_commands"`
	// AllowedCommands are built-in blocked programs, or curl and wget, that are
	// treated like any other. BlockedCommands win. Default none.
	AllowedCommands []string `toml:"allowed_commands"`
	// AllowNetwork, if false, blocks curl and wget. Default true.
	AllowNetwork bool `toml:"allow_network"`
	// OutsidePaths is what happens to a command that names a file outside the
	// roots: block or ask. Default block.
	OutsidePaths string `toml:"outside_paths"`
	// AllowedPaths are directories besides the session's that commands may name
	// files in, absolute or "~/..."; "." is the session's own and adds nothing.
	// Tools for files stay in the session's. Default none.
	AllowedPaths []string `toml:"allowed_paths"`
	// ConfirmPatterns are texts in a command that always ask, whatever a rule
	// says; letter case does not count. Default none.
	ConfirmPatterns []string `toml:"confirm_patterns"`
}

// ShellDefaults is the configuration that nobody changed.
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

// Tighten takes over what blocks or asks more. It returns the keys that it left
// alone.
func (c ShellRules) Tighten(repo ShellRules, has func(key string) bool) (ShellRules, []string) {
	var ignored []string
	if has("blocked_commands") {
		c.BlockedCommands = append(slices.Clone(c.BlockedCommands), repo.BlockedCommands...)
	}
	if has("confirm_patterns") {
		c.ConfirmPatterns = append(slices.Clone(c.ConfirmPatterns), repo.ConfirmPatterns...)
	}
	for _, key := range []string{"allowed_commands", "allowed_paths"} {
		if has(key) {
			ignored = append(ignored, key)
		}
	}
	if has("allow_network") {
		if repo.AllowNetwork && !c.AllowNetwork {
			ignored = append(ignored, "allow_network")
		} else {
			c.AllowNetwork = repo.AllowNetwork
		}
	}
	if has("outside_paths") {
		if repo.OutsidePaths == "block" || repo.OutsidePaths == c.OutsidePaths {
			c.OutsidePaths = repo.OutsidePaths
		} else {
			ignored = append(ignored, "outside_paths")
		}
	}
	return c, ignored
}
