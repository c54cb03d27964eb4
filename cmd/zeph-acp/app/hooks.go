package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/approval"
	"github.com/zeph-acp/zeph-acp/executors/hooks"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/session"
)

// hooks returns the hooks of a session. No file is read before its first turn.
func (a *App) hooks(cfg config.Config, s session.Setup, dirs sessionDirs, st *sessionTools) *hooks.Session {
	dir := dirs.roots.Cwd()
	o := hooks.Options{
		Config: cfg.Tools.Hooks, Session: s.ID, Dir: dir, Resumed: s.Resumed, Sources: a.hookSources(dir),
		Desk: a.approvalDesk(s),
		Env:  func() []string { return shell.Env(os.Environ(), localShell(cfg, nil).Block) },
		Shell: func(command string) (string, []string, error) {
			program, err := shell.FindShell()
			return program, []string{"-c", command}, err
		},
		Reaper: a.Reaper,
		Script: func(path string) (string, error) {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return "", err
			}
			return hashProjectFile(dir, name)
		},
		Mask: a.filters.mask(cfg.Tools.Filters.Security),
		Mode: s.Mode, Model: func() string { return s.Model().Name() }, Warn: s.Warn, NewID: a.NewID,
		Audit: audit.Middleware(a.Audit), Checking: a.checking != nil,
		Names: st.copies.nameMappers,
	}
	if !a.noUser(s) && a.checking == nil {
		o.Confirm = func(ctx context.Context, title string) bool {
			return a.askUser(ctx, s, approval.Question{Title: title}, yesOrNo) == approveOnce
		}
	}
	return hooks.New(o)
}

// hookSources returns the files of hooks: the user's, then those of the repository.
func (a *App) hookSources(dir string) []hooks.Source {
	var all []hooks.Source
	if a.configDir != "" {
		file := filepath.Join(a.configDir, hooks.FileName)
		all = append(all, hooks.Source{Name: executors.OneLine(file), Read: func() ([]byte, error) { return keys.ReadPrivate(file) }})
	}
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

// Hooks describes the hooks, for /hooks.
func (st *sessionTools) Hooks(ctx context.Context) string {
	st.hooks.Ready(ctx)
	return st.hooks.List()
}
