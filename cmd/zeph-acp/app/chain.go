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
func (a *App) chain(
	cfg config.Config, s session.Setup, dirs sessionDirs,
	rules *policy.ShellPolicyHandle, models helperModels, terminals *ideproxy.Terminals,
) (executors.Executor, *sessionTools) {
	caps := s.Client.Capabilities()
	guard := &policy.Guard{Policy: rules, Roots: dirs.files, Commands: dirs.roots, Home: dirs.home, Private: dirs.roots.PrivateAt}
	remembered := a.Answers.Project(dirs.roots.Cwd(), dirs.roots.Dirs()[1:]...)
	permission := &policy.Permission{
		Policy: rules, Roots: dirs.files, Home: dirs.home, Private: dirs.roots.PrivateAt,
		Mode: s.Mode, Approver: a.approver(s), Arbiter: models.arbiter,
		Remembered: remembered, Warn: s.Warn, NoBash: !shell.HasBash(), ScheduledTask: s.Unattended,
	}
	box := a.newSandbox(cfg, dirs)
	local := localShell(cfg, box)
	local.Reaper = a.Reaper
	bash := shellTools(cfg, dirs.roots, local, box, &ideproxy.Terminal{
		Client: s.Client, Shared: terminals, Local: local, Block: local.Block, Extra: local.Extra, NoBash: permission.NoBash,
	})
	if a.Background != nil {
		a.Background(bash.Commands)
	}
	st := &sessionTools{
		model:         s.Model,
		confirm:       a.confirm(s),
		shell:         bash,
		terminalState: func() string { return terminals.State(s.Client) },
		sandbox:       box,
		cache:         cache.New(cfg.Tools.ResultCache),
		adversarial:   models.adversarial,
		quota:         &quota.Quota{Limits: cfg.Tools.Limits},
		answers:       remembered,
		overflow:      a.overflow(cfg),
		filter:        a.filter(cfg),
		mcp:           a.mcpSession(cfg, s),
		rewind:        a.newRewind(cfg, s, dirs),
		toolset: toolset.New(toolset.Config{
			TAFC: cfg.Tools.TAFC, Filter: cfg.Agent.ToolFilter, Dependencies: cfg.Tools.Dependencies,
		}, &a.vectors, a.Log),
	}
	st.gates = a.newGates(cfg, s, dirs.home, st.mcp)
	st.gates.flow.MapPath = st.copies.toProject
	st.copies.report = func() { a.worktrees.showLeftovers(s.Warn) }
	st.hooks = a.hooks(cfg, s, dirs, st)
	st.tasks = a.newSessionTasks(cfg, s, st.gates.flow)
	st.memory = a.memory(cfg, s, dirs, st.gates.flow)
	st.cache.Busy = func() bool { return bash.Running() > 0 }
	st.skills = a.skills(cfg, s, dirs, st)
	st.commandFiles = a.filesOfCommands(s, dirs)
	st.subagents = a.subAgents(cfg, s, dirs, st)
	fs := a.fileSystem(cfg, s, dirs.files, caps, st.rewind)
	st.lsp = a.languageServers(cfg, s, dirs, fs, bash)
	st.tools = a.tools(cfg, s, dirs, st, local, fs)
	st.rules = a.rulesGates(cfg, dirs, st.tools, st.gates.trust)
	p := place{dirs, guard, permission, st.rules, st.lsp, st.rewind, st.cache, st.tools, fs}
	st.newCopyPlace = func(c *worktree.Copy) (place, *shell.Executor, error) { return a.copyPlace(cfg, st, p, c) }
	st.place = p
	return a.links(cfg, st, p), st
}

// tools returns the tools of a session. If they are off, it only records their names in st.
func (a *App) tools(
	cfg config.Config, s session.Setup, dirs sessionDirs, st *sessionTools, local shell.Local, fs files.FS,
) *executors.DynExecutor {
	tools := executors.NewDynExecutor(
		st.skills,
		st.sandbox.Middleware(st.shell),
		files.New(fs, dirs.files, cfg.Tools.File),
		web.New(cfg.Tools.Scrape),
		diagnostics.New(local, dirs.roots, cfg.Tools.Diagnostics),
		st.overflow.Tools(),
		native.New(),
		question.New(cfg.Tools.AskUser),
		st.subagents,
		st.toolset.Search(),
		st.memory.Tools(),
		a.exitPlan(s), // only in one mode
		st.mcp,        // its tools come and go
		st.tasks,      // last, since its tools may come later
	)
	if cfg.Tools.Enabled {
		return tools
	}
	st.disabled = []string{memory.SaveName, memory.SearchName} // not among tools before the store was read
	for _, tool := range tools.Tools() {
		st.disabled = append(st.disabled, tool.Name)
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
func (a *App) links(cfg config.Config, st *sessionTools, p place) executors.Executor {
	gates := []executors.Middleware{
		p.rules.policy.Middleware,
		p.rules.authorization.Middleware,
		st.hooks.Middleware,
		st.adversarial.Link(),
		st.gates.trust.Link(),
		st.gates.flow.Link(),
		st.gates.anomaly.Link(),
		st.gates.utility.Link(),
		p.permission.Middleware,
	}
	if p.lsp != nil { // its calls check an edit, and pass the same gates
		p.lsp.Check = executors.Chain(p.lsp.Tools(), slices.Concat([]executors.Middleware{
			trace.Calls, audit.Middleware(a.Audit), executors.Validate, p.guard.Middleware,
		}, gates, []executors.Middleware{st.filter.Middleware})...)
	}
	return executors.Chain(a.effects(p.tools), slices.Concat([]executors.Middleware{
		p.lsp.Around,
		trace.Calls,
		a.Watch,
		audit.Middleware(a.Audit),
		st.quota.Middleware,
		st.toolset.Middleware,
		executors.Validate,
		p.guard.Middleware,
		executors.DelegationGate,
	}, gates, []executors.Middleware{
		executors.CheckPrecondition,
		p.lsp.Within,
		p.rewind.Middleware,
		p.cache.Middleware,
		cfg.Tools.Retry.Middleware,
		st.overflow.Middleware,
		st.filter.Middleware,
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
	local := shell.Local{
		Block:    slices.Concat(cfg.Tools.Shell.EnvBlocklist, trace.SecretVariables),
		Extra:    command.GitSafeEnv(),
		ReadOnly: sandbox.ReadOnly(),
	}
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
			tools.Timeout, tools.TimeoutKey = time.Duration(cfg.ACP.TerminalTimeoutSecs)*time.Second, "acp.terminal_timeout_secs"
			tools.HasTerminal = true
		}
	}
	return tools
}

// fileSystem returns the files of a session: through the client as far as its capabilities
// allow, else on the disk.
func (a *App) fileSystem(cfg config.Config, s session.Setup, roots *workspace.Roots, caps acp.ClientCapabilities, kept *rewind.Session) files.FS {
	var fs files.FS = files.Disk{Roots: roots, MaxBytes: cfg.Tools.File.MaxFileBytes}
	if caps.ReadTextFile || caps.WriteTextFile {
		fs = &ideproxy.FS{
			Client: s.Client, Session: s.ID, Roots: roots, Disk: fs,
			Read: caps.ReadTextFile, Write: caps.WriteTextFile,
		}
	}
	return trackedFS(kept, fs, caps)
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
