package app

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
)

// box returns the OS sandbox of one session's local commands; nil if it is off.
func (a *App) box(cfg config.Config, in places) *sandbox.Sandbox {
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

// boxed tells the model where the sandbox, and not the command, is why one
// failed.
type boxed struct {
	executors.Executor
	box *sandbox.Sandbox
}

func (b boxed) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := b.Executor.Execute(ctx, call)
	if err != nil || !res.Failed || b.box == nil {
		return res, err
	}
	if e, ok := res.Raw.(shell.Envelope); ok {
		if reason, failed := sandbox.Failed(e.ExitCode, e.Stderr); failed {
			res.Text = executors.Failuref(executors.PermanentFailure, "the sandbox could not be made, so nothing was run: %s", reason).
				Hint("Ask the user: [tools.sandbox] in config.toml sets it.").Result().Text
			res.Category, res.Output = executors.PermanentFailure, nil
			return res, nil
		}
	}
	if hint := b.box.Hint(res.Text); hint != "" {
		res.Below(hint)
	}
	return res, nil
}
