package app

import (
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/cache"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/files"
	"github.com/zeph-acp/zeph-acp/executors/lsp"
	"github.com/zeph-acp/zeph-acp/executors/memory"
	"github.com/zeph-acp/zeph-acp/executors/overflow"
	"github.com/zeph-acp/zeph-acp/executors/policy"
	"github.com/zeph-acp/zeph-acp/executors/quota"
	"github.com/zeph-acp/zeph-acp/executors/rewind"
	"github.com/zeph-acp/zeph-acp/executors/schedule"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/process"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/trace"
	"github.com/zeph-acp/zeph-acp/executors/web"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/executors/worktree"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
)

// chain puts the links of one session around the composite that fits its
// client. This is the only place that orders them. A call that cannot run is
// refused before any link judges it, links that deny come before the question
// to the user, and no "always" bypasses a gate. docs/design.md explains the
// order.
func (a *App) chain(cfg config.Config, s session.Setup, in sessionDirs, rules *policy.ShellPolicyHandle, models helperModels, terminals *ideproxy.Terminals) (executors.Executor, *keeper) {
	caps := s.Client.Capabilities()
	guard := &policy.Guard{Policy: rules, Roots: in.files, Commands: in.roots, Home: in.home, Private: in.roots.PrivateAt}
	remembered := a.Answers.Project(in.roots.Cwd(), in.roots.Dirs()[1:]...)
	permission := &policy.Permission{
		Policy: rules, Roots: in.files, Home: in.home, Private: in.roots.PrivateAt,
		Mode: s.Mode, Approver: a.approver(s), Arbiter: models.arbiter,
		Remembered: remembered, Warn: s.Warn, NoBash: !shell.HasBash(), Task: s.Unattended,
	}
	box := a.box(cfg, in)
	local := localShell(cfg, box)
	local.Reaper = a.Reaper
	bash := shellTools(cfg, in.roots, local, box, &ideproxy.Terminal{
		Client: s.Client, Shared: terminals, Local: local, Block: local.Block, Extra: local.Extra, NoBash: permission.NoBash,
	})
	if a.Background != nil {
		a.Background(bash.Commands)
	}
	k := &keeper{
		shell: bash, commands: func() string { return terminals.State(s.Client) }, box: box, cache: cache.New(cfg.Tools.ResultCache),
		policies: models.policies, quota: &quota.Quota{Limits: cfg.Tools.Limits}, long: a.overflow(cfg), filter: a.filter(cfg),
		set: toolset.New(toolset.Config{
			TAFC: cfg.Tools.TAFC, Filter: cfg.Agent.ToolFilter, Dependencies: cfg.Tools.Dependencies,
		}, &a.vectors, a.Log),
	}
	k.mcp, k.model = a.mcpSession(cfg, s), s.Model
	k.rewind, k.confirm = a.rewinder(cfg, s, in), a.confirm(s)
	k.gates = a.newGates(cfg, s, in.home, k.mcp)
	k.gates.flow.Known = k.copies.known
	k.copies.report = func() { a.worktrees.show(s.Warn) }
	k.hooks, k.answers, k.tasks = a.hooks(cfg, s, in, k), remembered, a.scheduled(cfg, s, k.gates.flow)
	k.memory = a.memory(cfg, s, in, k.gates.flow)
	k.cache.Busy = func() bool { return bash.Running() > 0 }
	k.skills, k.written = a.skills(cfg, s, in, k), a.filesOfCommands(s, in)
	k.helpers = a.subAgents(cfg, s, in, k)
	fs := a.contents(cfg, s, in.files, caps, k.rewind)
	k.lsp = a.languageServers(cfg, s, in, fs, bash)
	k.tools = a.tools(cfg, s, in, k, local, fs)
	k.rules = a.rulesGates(cfg, in, k.tools, k.gates.trust)
	p := place{in, guard, permission, k.rules, k.lsp, k.rewind, k.cache, k.tools, fs}
	k.apart = func(c *worktree.Copy) (place, *shell.Executor, error) { return a.placeOf(cfg, k, p, c) }
	k.place = p
	return a.links(cfg, k, p), k
}

// tools returns the tools of a session, and notes in k those that are off.
func (a *App) tools(cfg config.Config, s session.Setup, in sessionDirs, k *keeper, local shell.Local, fs files.FS) *executors.DynExecutor {
	tools := executors.NewDynExecutor(
		k.skills,
		k.box.Middleware(k.shell),
		files.New(fs, in.files, cfg.Tools.File),
		web.New(cfg.Tools.Scrape),
		diagnostics.New(local, in.roots, cfg.Tools.Diagnostics),
		k.long.Tools(),
		native.New(),
		question.New(cfg.Tools.AskUser),
		k.helpers,
		k.set.Search(),
		k.memory.Tools(),
		a.exitPlan(s), // only in one mode
		k.mcp,         // its tools come and go
		k.tasks,       // last, since its tools may come later
	)
	if cfg.Tools.Enabled {
		return tools
	}
	k.off = []string{memory.SaveName, memory.SearchName} // offered only after a look at the store
	for _, tool := range tools.Tools() {
		k.off = append(k.off, tool.Name)
	}
	tools.Set()
	return tools
}

// place is the part of a chain that depends on its directories: those of the session, or
// a copy of the project.
type place struct {
	sessionDirs
	guard      *policy.Guard
	permission *policy.Permission
	rules      *rulesGates
	lsp        *lsp.Session // nil if it is off, and in a copy
	rewind     *rewind.Session
	cache      *cache.Cache
	tools      executors.Executor
	fs         files.FS
}

// links puts the links around the tools of a place.
func (a *App) links(cfg config.Config, k *keeper, p place) executors.Executor {
	gates := []executors.Middleware{
		p.rules.policy.Middleware,
		p.rules.authorization.Middleware,
		k.hooks.Middleware,
		k.policies.Link(),
		k.gates.trust.Link(),
		k.gates.flow.Link(),
		k.gates.anomaly.Link(),
		k.gates.utility.Link(),
		p.permission.Middleware,
	}
	if p.lsp != nil { // its calls check an edit, and pass the same gates
		p.lsp.Check = executors.Chain(p.lsp.Tools(), slices.Concat([]executors.Middleware{
			trace.Calls, audit.Middleware(a.Audit), executors.Validate, p.guard.Middleware,
		}, gates, []executors.Middleware{k.filter.Middleware})...)
	}
	return executors.Chain(a.effects(p.tools), slices.Concat([]executors.Middleware{
		p.lsp.Around,
		trace.Calls,
		audit.Middleware(a.Audit),
		a.Watch,
		k.quota.Middleware,
		k.set.Middleware,
		executors.Validate,
		p.guard.Middleware,
		executors.DelegationGate,
	}, gates, []executors.Middleware{
		executors.Still,
		p.lsp.Within,
		p.rewind.Middleware,
		p.cache.Middleware,
		cfg.Tools.Retry.Middleware,
		k.long.Middleware,
		k.filter.Middleware,
	})...)
}

// overflow returns the store of results that are too long for the model.
func (a *App) overflow(cfg config.Config) *overflow.Overflow {
	o := &overflow.Overflow{
		Memory: a.Overflow, Config: cfg.Tools.Overflow, Log: a.Log,
		Paged: []string{"read", "grep", "find_path", "list_directory"},
	}
	if a.Store != nil { // a nil *store.DB would be a Store that is not nil
		o.Store = a.Store
	}
	return o
}

// localShell returns the shell of this machine, with secrets removed from its
// environment.
func localShell(cfg config.Config, box *sandbox.Sandbox) shell.Local {
	local := shell.Local{Block: slices.Concat(cfg.Tools.Shell.EnvBlocklist, trace.SecretVariables), Extra: command.GitSafeEnv(), ReadOnly: sandbox.ReadOnly()}
	for _, p := range cfg.LLM.Providers {
		if p.APIKeyEnv != "" {
			local.Block = append(local.Block, p.APIKeyEnv)
		}
	}
	if box != nil {
		local.Wrap = func(p process.Program) (process.Program, error) {
			var err error
			p.Path, p.Args, p.Env, err = box.Wrap(p.Path, p.Args, p.Env)
			return p, err
		}
	}
	return local
}

// shellTools returns the tools that run commands: in the client's terminals if
// it has any and no sandbox is required, else on this machine.
func shellTools(cfg config.Config, roots *workspace.Roots, local shell.Local, box *sandbox.Sandbox, terminal *ideproxy.Terminal) *shell.Executor {
	tools := shell.New(local, roots.Cwd(), cfg.Tools.Shell.Config)
	tools.Roots = roots
	if terminal.Client.Capabilities().Terminal && !box.Required() { // a sandbox does not reach the client's terminals
		tools.Runner = terminal
		if !ideproxy.Ours(terminal.Client) {
			tools.Timeout, tools.Key = time.Duration(cfg.ACP.TerminalTimeoutSecs)*time.Second, "acp.terminal_timeout_secs"
			tools.Keys = true
		}
	}
	return tools
}

// contents returns the contents of files: through the client as far as its capabilities
// allow, else on the disk.
func (a *App) contents(cfg config.Config, s session.Setup, roots *workspace.Roots, caps acp.ClientCapabilities, kept *rewind.Session) files.FS {
	var fs files.FS = files.Disk{Roots: roots, MaxBytes: cfg.Tools.File.MaxFileBytes}
	if caps.ReadTextFile || caps.WriteTextFile {
		fs = &ideproxy.FS{
			Client: s.Client, Session: s.ID, Roots: roots, Disk: fs,
			Read: caps.ReadTextFile, Write: caps.WriteTextFile,
		}
	}
	return noting(kept, fs, caps)
}

// Catalogue returns the tools of a session whose configuration enables all of
// them.
func Catalogue() []executors.Tool {
	return executors.NewDynExecutor(
		shell.New(shell.Local{}, "", shell.Defaults()),
		files.New(nil, nil, files.Defaults()),
		web.New(web.Defaults()),
		diagnostics.New(shell.Local{}, nil, diagnostics.Defaults()),
		(&overflow.Overflow{Config: overflow.Defaults()}).Tools(),
		native.New(),
		question.New(question.Defaults()),
		subagent.Catalogue(),
		skills.Catalogue(),
		(&memory.Memory{}).Catalogue(),
		schedule.Catalogue(),
		(&native.ExitPlan{}).Catalogue(),
	).Tools()
}
