package app

import (
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
)

// languageServers returns the language servers of a session; nil if they are off. None
// starts before the first edit.
func (b *sessionBuilder) languageServers(fs files.FS, sh *sessionShell) *lsp.Session {
	if b.app.checking != nil || !b.cfg.Tools.Enabled {
		return nil
	}
	return lsp.New(lsp.Options{
		Config: b.cfg.Tools.LSP, Entries: b.app.Config.LSP, Session: b.session.ID, Roots: b.dirs.files, Read: fs.ReadFile,
		Desk:   &approval.Desk{Store: b.app.MCP.Approvals, Ask: b.askApproval()},
		Find:   b.app.FindServer,
		Hash:   b.hashFile,
		Busy:   func() bool { return sh.Running() > 0 },
		Env:    b.environment,
		Reaper: b.app.Reaper, Timeouts: client.DefaultTimeouts(), Mask: b.mask(), MaskLines: b.scan.Lines,
		Warn: b.session.Warn, Log: b.app.Log, NewID: b.app.NewID, Version: Version,
	})
}

// lspFeature adds the new diagnostics of an edit to its result.
func lspFeature(servers *lsp.Session) Feature {
	return Feature{Name: "lsp", Outer: servers.Around, Link: servers.Within, Status: servers.Status, Close: servers.Close}
}
