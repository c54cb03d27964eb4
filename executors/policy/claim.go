package policy

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// claimSource is where the output of a command comes from, for the audit log: a
// command that does nothing but show files which it names gives what they hold,
// as a tool for files would. Empty means as of the tool.
func claimSource(s *command.Script) string {
	shows := func(c *command.Command) bool { return c.ReadOnly() && !c.Guess }
	names := func(p command.Path) bool { return p.Sure && len(p.Abs) > 0 }
	if len(s.Commands) == 0 || len(s.Dynamic) > 0 || !slices.ContainsFunc(s.ExtractPaths(), names) || slices.ContainsFunc(s.Commands, func(c *command.Command) bool { return !shows(c) }) {
		return ""
	}
	return "file_system"
}
