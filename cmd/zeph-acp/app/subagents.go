package app

import (
	"context"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// subAgents returns the sub-agents of a session. No file is read before its first turn.
func (a *App) subAgents(cfg config.Config, s session.Setup, dirs sessionDirs, st *sessionTools) *subagent.Set {
	dir := dirs.roots.Cwd()
	o := subagent.Options{
		Config: cfg.Tools.SubAgent, Types: cfg.Agents, Dir: dir,
		Read:   func(name string) ([]byte, error) { return readProjectFile(dir, name) },
		Desk:   a.approvalDesk(s),
		System: func() string { return st.system.text() },
		Tools:  func() []executors.Tool { return st.tools.Tools() },
		Model:  a.modelLike, Warn: s.Warn,
	}
	if a.checking == nil && a.worktrees.dir != "" {
		o.Worktree = func(ctx context.Context, name string) (subagent.Worktree, error) {
			return a.newWorktree(ctx, name, cfg, dirs, st)
		}
	}
	if a.ProjectAgents {
		o.Project = func(agents string) []string { return namesIn(dir, agents) }
	}
	return subagent.New(o)
}

// Agents describes the types of sub-agents, for /agents.
func (st *sessionTools) Agents(ctx context.Context) string {
	st.subagents.Ready(ctx)
	return st.subagents.List()
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
