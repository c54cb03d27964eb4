package frontmatter

import (
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// withoutOurs are tools of Claude Code that have no counterpart here.
var withoutOurs = []string{"NotebookRead"}

// Tools returns our names of a tool, as patterns of path.Match: of one in the format of
// Claude Code, such as "Bash" or "mcp__SERVER", or of one of ours. It returns false for a
// name that no known tool has, and for one with a part in parentheses.
func Tools(name string, known []executors.Tool) (patterns []string, ok bool) {
	ours := executors.NamesOf(known, func(t executors.Tool) bool { return executors.Lists(t.Names.Claude, name) })
	server, isMCP := strings.CutPrefix(name, "mcp__")
	switch {
	case len(ours) > 0, slices.Contains(withoutOurs, name):
		return ours, true
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
