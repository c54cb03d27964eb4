package app

import (
	"context"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// subAgentsFeature has the tools that delegate tasks. No file is read before the first turn.
func (b *sessionBuilder) subAgentsFeature(copies *copyHost) Feature {
	set := b.subAgents(copies)
	return Feature{
		Name: "sub_agents", Tools: set, Reset: set.Reset,
		Ready: func(ctx context.Context, _ string) {
			b.app.worktrees.showLeftovers(b.session.Warn)
			set.Ready(ctx)
		},
		Builtins: []session.Builtin{{
			Name: "agents", Description: "Show the types of sub-agents",
			Run: func(ctx context.Context, _ string) string {
				set.Ready(ctx)
				return set.List()
			},
		}},
	}
}

// subAgents returns the sub-agents of a session.
func (b *sessionBuilder) subAgents(copies *copyHost) *subagent.Set {
	dir := b.dirs.roots.Cwd()
	o := subagent.Options{
		Config: b.cfg.Tools.SubAgent, Types: b.cfg.Agents, Dir: dir,
		Read: func(name string) ([]byte, error) { return readProjectFile(dir, name) },
		Desk: b.approvalDesk(), Plugins: b.plugins.agents(),
		System: func() (system, project string) { return copies.features.system.texts() },
		Tools:  func() []executors.Tool { return copies.tools.Tools() },
		Known:  catalogue.Known,
		Model:  b.app.modelLike, Warn: b.session.Warn,
	}
	if b.app.checking == nil && b.app.worktrees.dir != "" {
		o.Worktree = func(ctx context.Context, name string) (subagent.Worktree, error) {
			return b.newWorktree(ctx, copies, name)
		}
	}
	if b.app.ProjectAgents {
		o.Project = func(agents string) []string { return namesIn(dir, agents) }
	}
	return subagent.New(o)
}

// modelLike returns the full name of the model that a file of another program means, such
// as "haiku"; "" if no configured model is called so.
func (a *App) modelLike(name string) string {
	for _, m := range a.models() {
		if m.Name == name || strings.HasSuffix(m.Name, ":"+name) {
			return m.Name
		}
	}
	for _, m := range a.models() {
		if strings.Contains(m.Name, name) {
			return m.Name
		}
	}
	return ""
}
