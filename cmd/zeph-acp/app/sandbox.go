package app

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
)

// newSandbox returns the OS sandbox of one session's local commands, or nil if it is
// off.
func (a *App) newSandbox(cfg config.Config, dirs sessionDirs) *sandbox.Sandbox {
	setup := sandbox.Setup{
		Roots: dirs.roots, DenyPatterns: cfg.Tools.File.DenyRead,
		Network: cfg.Tools.Shell.AllowNetwork, Home: dirs.home, Getenv: a.environ,
	}
	if dirs.temp != "" {
		setup.Temp = []string{dirs.temp}
	}
	if dirs.private != nil {
		setup.OwnFiles = dirs.private.Places
	}
	if len(setup.DenyPatterns) > 0 {
		readable := dirs.files.Readable()
		setup.Refuses = func(abs string) bool { pattern, no := readable.Refuses(abs); return no && pattern != "" }
	}
	box := cfg.Tools.Sandbox
	box.ExtraWrite = slices.Concat(box.ExtraWrite, cfg.Tools.Shell.ShellRules.Allowed(dirs.home))
	if dirs.copyTop != "" {
		box.ExtraWrite = slices.DeleteFunc(box.ExtraWrite, func(path string) bool {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(dirs.home, rest)
			}
			return isBelow(path, dirs.copyTop)
		})
	}
	return sandbox.New(box, setup)
}
