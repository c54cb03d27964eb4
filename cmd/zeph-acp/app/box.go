package app

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
)

// box returns the OS sandbox of one session's local commands, or nil if it is
// off.
func (a *App) box(cfg config.Config, in sessionDirs) *sandbox.Sandbox {
	setup := sandbox.Setup{
		Roots: in.roots, Deny: cfg.Tools.File.DenyRead,
		Network: cfg.Tools.Shell.AllowNetwork, Home: in.home, Getenv: a.environ,
	}
	if a.Own != nil {
		setup.Own = a.Own.Places
	}
	if len(setup.Deny) > 0 {
		readable := in.files.Readable()
		setup.Refuses = func(abs string) bool { pattern, no := readable.Refuses(abs); return no && pattern != "" }
	}
	box := cfg.Tools.Sandbox
	box.ExtraWrite = slices.Concat(box.ExtraWrite, cfg.Tools.Shell.ShellRules.Allowed(in.home))
	return sandbox.New(box, setup)
}
