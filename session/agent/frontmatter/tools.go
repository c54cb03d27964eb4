package frontmatter

import (
	"path"
	"slices"
	"strings"
)

// aliases are the names of tools in the format of Claude Code.
var aliases = map[string][]string{
	"Agent":           {"sub_agent"},
	"AskUserQuestion": {"ask_user"},
	"Bash":            {"bash", "bash_output", "bash_stop"},
	"BashOutput":      {"bash_output"},
	"Edit":            {"edit"},
	"ExitPlanMode":    {"exit_plan"},
	"Glob":            {"find_path"},
	"Grep":            {"grep", "search_code"},
	"KillShell":       {"bash_stop"},
	"LS":              {"list_directory"},
	"MultiEdit":       {"edit"},
	"NotebookEdit":    {}, // known, but we have no such tool
	"NotebookRead":    {},
	"Read":            {"read"},
	"Skill":           {"load_skill", "invoke_skill"},
	"Task":            {"sub_agent"},
	"TodoWrite":       {"update_plan"},
	"WebFetch":        {"fetch", "web_scrape"},
	"WebSearch":       {},
	"Write":           {"write"},
}

// Tools returns our names of a tool, as patterns of path.Match: of one in the format of
// Claude Code, such as "Bash" or "mcp__SERVER", or of one of ours. It returns false for a
// name that no tool has, and for one with a part in parentheses.
func Tools(name string) (patterns []string, ok bool) {
	if known, ok := aliases[name]; ok {
		return known, true
	}
	server, isMCP := strings.CutPrefix(name, "mcp__")
	switch {
	case isMCP && strings.Contains(server, "__"):
		return []string{server}, true
	case isMCP:
		return []string{server + "__*"}, true
	case strings.ContainsAny(name, "()"), name != strings.ToLower(name):
		return nil, false
	}
	return []string{name}, true
}

// MatchesTool reports whether one of the patterns matches the name of a tool.
func MatchesTool(patterns []string, tool string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, tool) // a wrong pattern matches nothing
		return ok
	})
}
