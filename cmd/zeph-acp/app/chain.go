package app

import (
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/files"
	"github.com/zeph-acp/zeph-acp/executors/policy"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/web"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
)

// chain puts the links of one session around the composite that fits its
// client. This is the only place that knows their order, which DESIGN 5 gives:
// a call that cannot run is refused before anything judges it, gates that deny
// come before the user is asked, and no "always" gets around a gate.
func chain(cfg Config, s session.Setup, roots *workspace.Roots, rules *policy.ShellPolicyHandle, home string, log *audit.Log) executors.Executor {
	caps := s.Client.Capabilities()
	guard := &policy.Guard{Policy: rules, Roots: roots, Home: home, Private: roots.Private}
	permission := &policy.Permission{
		Policy: rules, Roots: roots, Home: home, Private: roots.Private,
		Mode: s.Mode, Approver: &ideproxy.Approver{Client: s.Client, Session: s.ID},
		Remembered: &policy.Remembered{},
	}
	return executors.Chain(
		executors.NewDynExecutor(
			shellTools(cfg, s.Client, roots, caps),
			fileTools(cfg, s, roots, caps),
			web.New(cfg.Tools.Scrape),
			diagnostics.New(localShell(cfg), roots, cfg.Tools.Diagnostics),
			native.New(),
		),
		audit.Middleware(log),
		executors.Validate,
		guard.Middleware,
		permission.Middleware,
	)
}

// localShell runs programs here, without what they must not learn.
func localShell(cfg Config) shell.Local {
	local := shell.Local{Block: slices.Clone(cfg.Tools.Shell.EnvBlocklist), Extra: command.GitSafeEnv()}
	for _, p := range cfg.LLM.Providers {
		if p.APIKeyEnv != "" {
			local.Block = append(local.Block, p.APIKeyEnv)
		}
	}
	return local
}

// shellTools runs commands in the client's terminals if it has any, else here.
func shellTools(cfg Config, client *acp.Client, roots *workspace.Roots, caps acp.ClientCapabilities) executors.Executor {
	local := localShell(cfg)
	tools := shell.New(local, roots.Cwd(), cfg.Tools.Shell.Config)
	if caps.Terminal {
		tools.Runner = &ideproxy.Terminal{Client: client, Local: local, Block: local.Block, Extra: local.Extra}
		tools.Timeout = time.Duration(cfg.ACP.TerminalTimeoutSecs) * time.Second
	}
	return tools
}

// fileTools work on the client's buffers as far as it gives access, else on the
// disk.
func fileTools(cfg Config, s session.Setup, roots *workspace.Roots, caps acp.ClientCapabilities) executors.Executor {
	var fs files.FS = files.Disk{Roots: roots, MaxBytes: cfg.Tools.File.MaxFileBytes}
	if caps.ReadTextFile || caps.WriteTextFile {
		fs = &ideproxy.FS{
			Client: s.Client, Session: s.ID, Roots: roots, Disk: fs,
			Read: caps.ReadTextFile, Write: caps.WriteTextFile,
		}
	}
	return files.New(fs, roots, cfg.Tools.File)
}

// Catalogue lists the tools of a session whose configuration allows all.
func Catalogue() []executors.Tool {
	return executors.NewDynExecutor(
		shell.New(shell.Local{}, "", shell.Defaults()),
		files.New(nil, nil, files.Defaults()),
		web.New(web.Defaults()),
		diagnostics.New(shell.Local{}, nil, diagnostics.Defaults()),
		native.New(),
	).Tools()
}
