package app

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// subAgents returns the sub-agents of a session. No file is read before its first turn.
func (a *App) subAgents(cfg config.Config, s session.Setup, in sessionDirs, k *keeper) *subagent.Set {
	dir := in.roots.Cwd()
	o := subagent.Options{
		Config: cfg.Tools.SubAgent, Types: cfg.Agents, Dir: dir,
		Read:   func(name string) ([]byte, error) { return readProjectFile(dir, name) },
		Desk:   a.desk(s),
		System: func() string { return k.system.text() },
		Tools:  func() []executors.Tool { return k.tools.Tools() },
		Model:  a.modelLike, Warn: s.Warn,
	}
	if a.checking == nil && a.worktrees.dir != "" {
		o.Worktree = func(ctx context.Context, name string) (subagent.Worktree, error) {
			return a.newWorktree(ctx, name, cfg, in, k)
		}
	}
	if a.ProjectAgents {
		o.Project = func(agents string) []string { return namesIn(dir, agents) }
	}
	return subagent.New(o)
}

// Agents describes the types of sub-agents, for /agents.
func (k *keeper) Agents(ctx context.Context) string {
	k.helpers.Ready(ctx)
	return k.helpers.List()
}

// namesIn returns the names of the files in a directory of the repository, relative to
// the repository.
func namesIn(dir, below string) []string {
	if _, err := os.Lstat(filepath.Join(dir, below)); err != nil {
		return nil // opens nothing in a project without them
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	d, err := root.Open(below)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxNames) // the names until the error
	for i := range names {
		names[i] = path.Join(below, names[i])
	}
	slices.Sort(names)
	return names
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
