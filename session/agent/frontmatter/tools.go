package front

import "strings"

// aliases are the names of tools in the format of Claude Code.
var aliases = map[string][]string{
	"Bash": {"bash", "bash_output", "bash_stop"}, "BashOutput": {"bash_output"}, "KillShell": {"bash_stop"},
	"Read": {"read"}, "Write": {"write"}, "Edit": {"edit"}, "MultiEdit": {"edit"},
	"Grep": {"grep", "search_code"}, "Glob": {"find_path"}, "LS": {"list_directory"},
	"WebFetch": {"fetch", "web_scrape"}, "WebSearch": {}, "NotebookEdit": {}, "NotebookRead": {},
	"TodoWrite": {"update_plan"}, "Task": {"sub_agent"}, "Agent": {"sub_agent"}, "Skill": {"load_skill", "invoke_skill"},
	"AskUserQuestion": {"ask_user"}, "ExitPlanMode": {"exit_plan"},
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
