package app

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
)

// newSandbox returns the OS sandbox of one session's local commands, or nil if it is
// off.
func (b *sessionBuilder) newSandbox() *sandbox.Sandbox {
	setup := sandbox.Setup{
		Roots: b.dirs.roots, DenyPatterns: b.cfg.Tools.File.DenyRead,
		Network: b.cfg.Tools.Shell.AllowNetwork, Home: b.dirs.home, Getenv: b.app.environ,
	}
	if b.dirs.temp != "" {
		setup.Temp = []string{b.dirs.temp}
	}
	if b.dirs.private != nil {
		setup.OwnFiles = b.dirs.private.Places
	}
	if len(setup.DenyPatterns) > 0 {
		readable := b.dirs.files.Readable()
		setup.Refuses = func(abs string) bool { pattern, no := readable.Refuses(abs); return no && pattern != "" }
	}
	box := b.cfg.Tools.Sandbox
	box.ExtraWrite = slices.Concat(box.ExtraWrite, b.cfg.Tools.Shell.ShellRules.Allowed(b.dirs.home))
	if b.dirs.copyTop != "" {
		box.ExtraWrite = slices.DeleteFunc(box.ExtraWrite, func(path string) bool {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(b.dirs.home, rest)
			}
			return leadsAbove(path, b.dirs.copyTop)
		})
	}
	return sandbox.New(box, setup)
}
