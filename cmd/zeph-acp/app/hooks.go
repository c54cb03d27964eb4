package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
)

// hooksFeature runs the hooks. No file is read before the first turn.
func (b *sessionBuilder) hooksFeature(copies *copyHost) Feature {
	h := b.hooks(copies)
	return Feature{
		Name: "hooks", Link: h.Middleware, OwnCalls: true, Reset: h.Reset,
		Ready: func(ctx context.Context, _ string) { h.Ready(ctx) },
		Turns: func(a *agent.Agent) { a.Hooks = h },
		Builtins: []session.Builtin{{
			Name: "hooks", Description: "Show the hooks and their last runs",
			Run: func(ctx context.Context, _ string) string {
				h.Ready(ctx)
				return h.List()
			},
		}},
	}
}

// hooks returns the hooks of a session.
func (b *sessionBuilder) hooks(copies *copyHost) *hooks.Session {
	dir, mask := b.dirs.roots.Cwd(), b.mask()
	o := hooks.Options{
		Config: b.cfg.Tools.Hooks, Session: b.session.ID, Dir: dir, Resumed: b.session.Resumed, Sources: b.hookSources(dir),
		Desk: b.approvalDesk(),
		Env:  b.environment,
		Shell: func(command string) (string, []string, error) {
			program, err := shell.FindShell()
			return program, []string{"-c", command}, err
		},
		Reaper: b.app.Reaper,
		Script: b.hashFile,
		Mask:   func(s string) string { return mask(text.WithoutControls(s)) },
		Mode:   b.session.Mode, Model: func() string { return b.session.Model().Name() }, Warn: b.session.Warn, NewID: b.app.NewID,
		Audit: audit.Middleware(b.app.Audit), Checking: b.app.checking != nil,
		Names: copies.nameMappers,
	}
	if !b.session.Unattended {
		o.Confirm = b.confirm()
	}
	return hooks.New(o)
}

// hookSources returns the hook files: the user's, the plug-ins', then the repository's.
func (b *sessionBuilder) hookSources(dir string) []hooks.Source {
	a := b.app
	var all []hooks.Source
	if a.configDir != "" {
		file := filepath.Join(a.configDir, hooks.FileName)
		all = append(all, hooks.Source{Name: executors.OneLine(file), Read: func() ([]byte, error) { return keys.ReadPrivate(file) }})
	}
	all = append(all, b.plugins.hooks()...)
	if !a.ProjectHooks && a.checking == nil {
		return all
	}
	for _, name := range hooks.ProjectFiles {
		all = append(all, hooks.Source{Name: name, Project: true, Read: func() ([]byte, error) {
			if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
				return nil, err // opens nothing in a project without hooks
			}
			return readProjectFile(dir, name)
		}})
	}
	return all
}
