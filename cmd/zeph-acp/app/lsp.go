package app

import (
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/approval"
	"github.com/zeph-acp/zeph-acp/executors/files"
	"github.com/zeph-acp/zeph-acp/executors/lsp"
	"github.com/zeph-acp/zeph-acp/executors/lsp/client"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/session"
)

// languageServers returns the language servers of a session; nil if they are off. None
// starts before the first edit.
func (a *App) languageServers(cfg config.Config, s session.Setup, dirs sessionDirs, fs files.FS, bash *shell.Executor) *lsp.Session {
	if a.checking != nil || !cfg.Tools.Enabled {
		return nil
	}
	dir := dirs.roots.Cwd()
	return lsp.New(lsp.Options{
		Config: cfg.Tools.LSP, Entries: a.Config.LSP, Session: s.ID, Roots: dirs.files, Read: fs.ReadFile,
		Desk: &approval.Desk{Store: a.MCP.Approvals, Ask: a.askApproval(s)},
		Find: a.FindServer,
		Hash: func(path string) (string, error) {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return "", err
			}
			return hashProjectFile(dir, name)
		},
		Busy:   func() bool { return bash.Running() > 0 },
		Env:    func() []string { return shell.Env(os.Environ(), localShell(cfg, nil).Block) },
		Reaper: a.Reaper, Patience: client.DefaultPatience(), Mask: a.filters.mask(cfg.Tools.Filters.Security),
		Warn: s.Warn, Log: a.Log, NewID: a.NewID, Version: Version,
	})
}
