package app

import (
	"path/filepath"
	"slices"
	"strings"

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
	if in.temp != "" {
		setup.Temp = []string{in.temp}
	}
	if in.own != nil {
		setup.Own = in.own.Places
	}
	if len(setup.Deny) > 0 {
		readable := in.files.Readable()
		setup.Refuses = func(abs string) bool { pattern, no := readable.Refuses(abs); return no && pattern != "" }
	}
	box := cfg.Tools.Sandbox
	box.ExtraWrite = slices.Concat(box.ExtraWrite, cfg.Tools.Shell.ShellRules.Allowed(in.home))
	if in.apart != "" {
		box.ExtraWrite = slices.DeleteFunc(box.ExtraWrite, func(path string) bool {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(in.home, rest)
			}
			return isBelow(path, in.apart)
		})
	}
	return sandbox.New(box, setup)
}
