package permission

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// claimSource returns the source of a command's output for the audit log. A command that
// only shows files that it names has the source of the file tools. "" means the default
// source of the tool.
func claimSource(s *command.Script) string {
	names := func(p command.Path) bool { return p.Sure && len(p.Abs) > 0 }
	if len(s.Commands) == 0 || len(s.Dynamic) > 0 || !slices.ContainsFunc(s.ExtractPaths(), names) {
		return ""
	}
	if slices.ContainsFunc(s.Commands, func(c *command.Command) bool { return !c.ReadOnly() || c.Guess }) {
		return ""
	}
	return "file_system"
}
