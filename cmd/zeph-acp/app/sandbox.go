package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/ideproxy"
)

// describe returns a function that describes a box.
func (a *App) describe(box *sandbox.Box) func() string {
	if a.BoxState != nil {
		return a.BoxState
	}
	return box.State
}

// sandboxFeature describes what confines commands.
func (b *sessionBuilder) sandboxFeature(sh *sessionShell) Feature {
	boxState := b.app.describe(sh.box)
	return Feature{
		Name:     "sandbox",
		Warnings: func() []string { return nonempty(sh.walls.Warning()) },
		Status: func() []string {
			var lines []string
			if sh.walls != nil {
				lines = append(lines, sh.walls.State())
			}
			if state := boxState(); state != "" {
				lines = append(lines, strings.Split(state, "\n")...)
			}
			return append(lines, nonempty(sh.terminalState())...)
		},
	}
}

// nonempty returns a list of one line; nil if it is empty.
func nonempty(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}

// sandboxes returns what confines the session's local commands: the sandbox of those that were
// allowed, nil if it is off, and the box of those that run without a question, nil if there
// is none on this system. lent is the directory of git objects that the session's repository
// borrows, if any.
func (b *sessionBuilder) sandboxes(lent string) (*sandbox.Sandbox, *sandbox.Box) {
	setup := sandbox.Session{
		Roots: b.dirs.roots, DenyPatterns: b.cfg.Tools.File.DenyRead,
		Network: b.cfg.Tools.Shell.AllowNetwork, Home: b.dirs.home, Getenv: b.app.environ,
		Limit: time.Duration(b.cfg.Tools.Shell.MaxTimeout) * time.Second, Objects: lent,
		Read: b.cfg.Tools.Shell.ShellRules.Allowed(b.dirs.home),
	}
	if b.app.dataDir != "" {
		setup.State = filepath.Join(b.app.dataDir, "box")
	}
	if b.dirs.temp != "" {
		setup.Temp = []string{b.dirs.temp}
	}
	if b.dirs.agentFiles != nil {
		setup.OwnFiles = b.dirs.agentFiles.Places
	}
	if len(setup.DenyPatterns) > 0 {
		readable := b.dirs.files.Readable()
		setup.Refuses = func(abs string) bool { pattern, no := readable.Refuses(abs); return no && pattern != "" }
	}
	cfg := b.cfg.Tools.Sandbox
	cfg.ExtraWrite = slices.Concat(cfg.ExtraWrite, setup.Read)
	if b.dirs.copyTop != "" {
		cfg.ExtraWrite = slices.DeleteFunc(cfg.ExtraWrite, func(path string) bool {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(b.dirs.home, rest)
			}
			return leadsAbove(path, b.dirs.copyTop)
		})
	}
	return sandbox.New(cfg, setup), sandbox.NewBox(setup)
}

// launchIn returns the function that starts unasked commands in the client's terminals; nil if
// there is no box.
func (a *App) launchIn(box *sandbox.Box) func(argv, env []string) (ideproxy.Launch, error) {
	if box == nil {
		return nil
	}
	return func(argv, env []string) (ideproxy.Launch, error) {
		path, args, err := box.Launcher(argv, env)
		if err != nil {
			return ideproxy.Launch{}, err
		}
		l := ideproxy.Launch{Path: path, Args: args, Ticket: args[1]}
		if a.Scripted {
			l.Ticket = ""
			return l, os.Remove(args[1])
		}
		return l, nil
	}
}
