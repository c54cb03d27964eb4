package app

import (
	"os"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/links/quota"
	"github.com/zeph-acp/zeph-acp/executors/links/recent"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
)

// chain puts the links of one session around the composite that fits its client. This is the only
// place that orders them. A call that cannot run is refused before any link judges it. Links that
// deny come before the question to the user. No "always" bypasses a gate. docs/design.md explains
// the order.
func (b *sessionBuilder) chain(terminals *ideproxy.Terminals) executors.Executor {
	walls, box := b.sandboxes("")
	guard := &permission.Guard{
		Policy: b.policy, Roots: b.dirs.files, Commands: b.dirs.roots, Home: b.dirs.home,
		Private: b.dirs.roots.PrivateWith, Boxed: box.Ready,
	}
	remembered := b.app.Answers.Project(b.dirs.roots.Cwd(), b.dirs.roots.Dirs()[1:]...)
	permission := &permission.Permission{
		Policy: b.policy, Roots: b.dirs.files, Home: b.dirs.home, Boxed: box.Ready,
		Mode: b.session.Mode, Approver: b.approver(), Arbiter: b.models.arbiter,
		Remembered: remembered, Warn: b.session.Warn, NoBash: !shell.HasBash(), ScheduledTask: b.session.Unattended,
	}
	local := confinedShell(b.cfg, walls, box)
	local.Reaper = b.app.Reaper
	bash := b.shellTools(local, walls, &ideproxy.Terminal{
		Client: b.session.Client, Shared: terminals, Local: local, Block: local.Block, Extra: local.Extra, NoBash: permission.NoBash,
		Launch: b.app.launchIn(box),
	})
	permission.InTerminal = bash.HasTerminal
	if b.app.Background != nil {
		b.app.Background(bash.Commands)
	}
	b.tools = &sessionTools{
		model:         b.session.Model,
		confirm:       b.confirm(),
		shell:         bash,
		terminalState: func() string { return terminals.State(b.session.Client) },
		sandbox:       walls,
		boxState:      b.app.describe(box),
		forget:        func() { b.app.filters.forget(b.session.ID) },
		cache:         cache.New(b.cfg.Tools.ResultCache),
		adversarial:   b.models.adversarial,
		recent:        &recent.Calls{Place: b.app.placeOf, Hidden: func(tool string) (executors.Verdict, bool) { return b.policy.Load().Hidden(tool) }},
		quota:         &quota.Quota{Limits: b.cfg.Tools.Limits, Save: stateSaver(b.session, quota.Name)},
		answers:       remembered,
		overflow:      b.overflow(),
		filter:        b.filter(),
		mcp:           b.mcpSession(),
		rewind:        b.newRewind(),
		toolset: toolset.New(toolset.Config{
			TAFC: b.cfg.Tools.TAFC, Filter: b.cfg.Agent.ToolFilter, Dependencies: b.cfg.Tools.Dependencies,
		}, &b.app.vectors, b.app.Log),
	}
	b.tools.gates = b.newGates()
	b.tools.gates.flow.MapPath = b.tools.copies.toProject
	b.tools.copies.report = func() { b.app.worktrees.showLeftovers(b.session.Warn) }
	b.tools.hooks = b.hooks()
	b.tools.tasks = b.newSessionTasks()
	b.tools.memory = b.memory()
	b.tools.cache.Busy = func() bool { return bash.Running() > 0 }
	b.tools.skills = b.skills()
	b.tools.system = b.systemPrompt()
	b.tools.commandFiles = b.commandFiles()
	b.tools.subagents = b.subAgents()
	fs := b.fileSystem()
	b.tools.lsp = b.languageServers(fs)
	b.tools.tools = b.composite(local, fs)
	b.tools.rules = b.rulesGates(b.tools.tools)
	b.tools.place = place{b.dirs, guard, permission, b.tools.rules, b.tools.lsp, b.tools.rewind, b.tools.cache, b.tools.tools, fs}
	chain := b.links(b.tools.place)
	b.tools.offered = chain.Tools
	return chain
}

// composite returns the tools without the chain. If they are off, it only records their
// names.
func (b *sessionBuilder) composite(local shell.Local, fs files.FS) *executors.DynExecutor {
	tools := executors.NewDynExecutor(
		b.tools.skills,
		b.tools.sandbox.Middleware(b.tools.shell),
		b.tools.shell.Hold(files.New(fs, b.dirs.files, b.cfg.Tools.File, b.mask())),
		web.New(b.cfg.Tools.Scrape),
		diagnostics.New(local, b.dirs.roots, b.cfg.Tools.Diagnostics),
		b.tools.overflow.Tools(),
		native.New(),
		question.New(b.cfg.Tools.AskUser),
		b.tools.subagents,
		b.tools.toolset.Search(),
		b.tools.memory.Tools(),
		b.exitPlan(),  // only in one mode
		b.tools.mcp,   // its tools come and go
		b.tools.tasks, // last, since its tools may come later
	)
	if b.cfg.Tools.Enabled {
		return tools
	}
	b.tools.disabled = []string{memory.SaveName, memory.SearchName} // not among tools before the store was read
	for _, tool := range tools.Tools() {
		b.tools.disabled = append(b.tools.disabled, tool.Name)
	}
	tools.Set()
	return tools
}

// place is the part of a chain that depends on its directories: the session's own, or
// a copy of the project.
type place struct {
	sessionDirs
	guard      *permission.Guard
	permission *permission.Permission
	rules      *rulesGates
	lsp        *lsp.Session // nil if it is off, and in a copy
	rewind     *rewind.Session
	cache      *cache.Cache
	tools      executors.Executor
	fs         files.FS
}

// links puts the links around the tools of a place.
func (b *sessionBuilder) links(p place) executors.Executor {
	gates := []executors.Middleware{
		p.rules.policy.Middleware,
		p.rules.authorization.Middleware,
		b.tools.hooks.Middleware,
		b.tools.adversarial.Link(),
		b.tools.gates.trust.Link(),
		b.tools.gates.flow.Link(),
		b.tools.gates.anomaly.Link(),
		b.tools.gates.utility.Link(),
		p.permission.Middleware,
	}
	if p.lsp != nil { // its calls check an edit, and pass the same gates
		p.lsp.Check = executors.Chain(p.lsp.Tools(), slices.Concat([]executors.Middleware{
			trace.Calls, audit.Middleware(b.app.Audit), executors.Validate, p.guard.Middleware,
		}, gates, []executors.Middleware{b.tools.filter.Middleware})...)
	}
	return executors.Chain(b.app.effects(p.tools), slices.Concat([]executors.Middleware{
		executors.AdviseOffered(catalogue.Known),
		b.tools.filter.Gate,
		p.lsp.Around,
		trace.Calls,
		b.app.Watch,
		audit.Middleware(b.app.Audit),
		b.tools.recent.Middleware,
		b.tools.quota.Middleware,
		b.tools.toolset.Middleware,
		executors.Validate,
		p.guard.Middleware,
		executors.DelegationGate,
	}, gates, []executors.Middleware{
		executors.CheckPrecondition,
		p.lsp.Within,
		p.rewind.Middleware,
		p.cache.Middleware,
		b.cfg.Tools.Retry.Middleware,
		b.tools.overflow.Middleware,
		b.tools.filter.Middleware,
	})...)
}

// overflow returns the store of results that are too long for the model.
func (b *sessionBuilder) overflow() *overflow.Overflow {
	o := &overflow.Overflow{
		Memory: b.app.Overflow, Config: b.cfg.Tools.Overflow, Log: b.app.Log, Summarizer: b.models.summarizer,
	}
	if b.app.Store != nil { // a nil *store.DB would be a Store that is not nil
		o.Store = b.app.Store
	}
	return o
}

// localShell returns the shell of this machine, with secrets removed from its
// environment.
func localShell(cfg config.Config) shell.Local {
	local := shell.Local{
		Block: slices.Concat(cfg.Tools.Shell.EnvBlocklist, trace.SecretVariables),
		Extra: command.GitSafeEnv(),
	}
	for _, p := range cfg.LLM.Providers {
		if p.APIKeyEnv != "" {
			local.Block = append(local.Block, p.APIKeyEnv)
		}
	}
	return local
}

// confinedShell returns the shell of this machine for one session. walls confines the commands
// that were allowed, and box those that run without a question; each may be nil.
func confinedShell(cfg config.Config, walls *sandbox.Sandbox, box *sandbox.Box) shell.Local {
	local := localShell(cfg)
	local.MaxTime = time.Duration(cfg.Tools.Shell.MaxTimeout) * time.Second
	if box != nil {
		local.Confine = box.Confined
	}
	if walls != nil {
		local.Wrap = func(p process.Program) (process.Program, error) {
			var err error
			p.Path, p.Args, p.Env, err = walls.Wrap(p.Path, p.Args, p.Env)
			return p, err
		}
	}
	return local
}

// environment returns the variables of the programs that the session starts besides commands,
// such as hooks. It has no secrets.
func (b *sessionBuilder) environment() []string {
	return shell.Env(os.Environ(), localShell(b.cfg).Block)
}

// shellTools returns the tools that run commands: in the client's terminals if
// it has any and no sandbox is required, else on this machine.
func (b *sessionBuilder) shellTools(local shell.Local, walls *sandbox.Sandbox, terminal *ideproxy.Terminal) *shell.Executor {
	tools := shell.New(local, b.dirs.roots.Cwd(), b.cfg.Tools.Shell.Config)
	tools.Roots, tools.Home = b.dirs.roots, b.dirs.home
	if terminal.Client.Capabilities().Terminal && !walls.Required() { // a sandbox does not reach the client's terminals
		tools.Runner = terminal
		if !ideproxy.Ours(terminal.Client) {
			tools.Timeout, tools.TimeoutKey = time.Duration(b.cfg.ACP.TerminalTimeoutSecs)*time.Second, "acp.terminal_timeout_secs"
			tools.HasTerminal = true
		}
	}
	return tools
}

// fileSystem returns the files of a session: through the client as far as its capabilities
// allow, else on the disk.
func (b *sessionBuilder) fileSystem() files.FS {
	caps := b.session.Client.Capabilities()
	var fs files.FS = files.Disk{Roots: b.dirs.files, MaxBytes: b.cfg.Tools.File.MaxFileBytes}
	if caps.ReadTextFile || caps.WriteTextFile {
		fs = &ideproxy.FS{
			Client: b.session.Client, Session: b.session.ID, Roots: b.dirs.files, Disk: fs,
			Read: caps.ReadTextFile, Write: caps.WriteTextFile,
		}
	}
	return trackedFS(b.tools.rewind, fs, caps)
}
