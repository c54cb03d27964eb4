package app

import (
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/executors/tools/websearch"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
)

// features makes the features of a session, and its chain. This is the only place that orders them.
//
// The order is the order of the chain, outermost first. A call that cannot run is refused before any
// link checks it. Links that deny come before the question to the user. No "always" bypasses a gate.
// docs/architecture.md explains the order. In the same order models see the tools, features ask the user
// before a turn, and /status shows their lines. A feature without a link stands where these need it.
func (b *sessionBuilder) features(terminals *ideproxy.Terminals) *sessionFeatures {
	tools := executors.NewDynExecutor() // set below
	s := &sessionFeatures{confirm: b.confirm(), forget: func() { b.app.filters.forget(b.session.ID) }}
	sh := b.newShell(terminals)
	servers := b.mcpSession()
	gates := b.newGates(servers)
	s.flow = gates.flow
	s.servers = b.serverStates(servers)
	s.tasks = b.newSessionTasks(gates.flow)
	copies := &copyHost{features: s, tools: tools, permission: b.newPermission(sh), trust: gates.trust, roots: b.dirs.files}
	gates.flow.MapPath = copies.toProject
	setTrust := trustCommand(gates.trust, servers, tools)
	saved := b.memory(gates.flow)
	found := b.skills(gates.trust, func() (system, project string) { return s.system.texts() }, setTrust)
	s.system = b.systemPrompt(found, func() []executors.Tool { return s.chain.Tools() })
	kept := b.newRewind()
	copies.fs = b.fileSystem(kept)
	copies.servers = b.languageServers(copies.fs, sh)
	policy, authorization := b.rulesGates(gates.trust, tools).features()
	results := cache.New(b.cfg.Tools.ResultCache)
	output, long := b.filter(), b.overflow()
	s.list = []Feature{
		{Name: "limit", Outer: long.Gate}, // around masking: it stores what it cuts off
		{Name: "advice", Outer: executors.AdviseOffered(catalogue.Known, b.savedOnly())},
		{Name: "masking", Outer: output.Gate},
		{Name: "trace", Link: trace.Calls, OwnCalls: true},
		{Name: "watch", Link: b.app.Watch},
		{Name: "audit", Link: audit.Middleware(b.app.Audit), OwnCalls: true},
		b.recentFeature(),
		b.quotaFeature(),
		b.toolsetFeature(s),
		{Name: "validate", Link: executors.Validate, OwnCalls: true},
		b.guardFeature(sh.box, nil),
		{Name: "delegation", Link: executors.DelegationGate},
		policy,
		authorization,
		b.hooksFeature(copies),
		b.adversarialFeature(),
		b.trustFeature(gates.trust, setTrust),
		b.flowFeature(gates.flow),
		{Name: "anomaly", Link: gates.anomaly.Link(), OwnCalls: true, Reset: gates.anomaly.Reset},
		{Name: "utility", Link: gates.utility.Link(), OwnCalls: true, BeforeTurn: gates.utility.Begin, Reset: gates.utility.Reset},
		b.unsavedFeature(copies.fs), // before a question about a call that cannot run
		b.permissionFeature(copies.permission),
		{Name: "precondition", Link: executors.CheckPrecondition},
		lspFeature(copies.servers),
		rewindFeature(kept, copies.servers, results, sh.Executor),
		cacheFeature(results, sh.Executor),
		{Name: "retry", Link: b.cfg.Tools.Retry.Middleware},
		b.promptFeature(s.system, found),
		memoryFeature(saved),
		{Name: "plans", Tools: b.exitPlan(), Late: true},
		b.mcpFeature(servers, gates, s.servers),
		b.tasksFeature(s.tasks),
		b.skillsFeature(found),
		b.fileCommandsFeature(tools),
		b.pluginsFeature(),
		b.shellFeature(sh),
		{Name: "files", Tools: sh.Hold(files.New(copies.fs, b.dirs.files, b.cfg.Tools.File, b.mask()))},
		{Name: "web", Tools: web.New(b.cfg.Tools.Scrape)},
		{Name: "web search", Tools: websearch.New(b.cfg.Tools.WebSearch, b.cfg.Tools.Scrape, b.app.Getenv)},
		{Name: diagnostics.Tool, Tools: diagnostics.New(sh.local, b.dirs.roots, b.cfg.Tools.Diagnostics)},
		b.overflowFeature(long),
		b.filterFeature(output),
		b.sandboxFeature(sh),
		{Name: "native", Tools: native.New()},
		{Name: "question", Tools: question.New(b.cfg.Tools.AskUser)},
		b.subAgentsFeature(copies),
		suspicionFeature(), b.keyFeature(), b.budgetFeature(),
	}
	tools.Set(toolsOf(s.list)...)
	if !b.cfg.Tools.Enabled {
		s.disabled = []string{memory.SaveName, memory.SearchName} // not among tools before the store was read
		for _, tool := range tools.Tools() {
			s.disabled = append(s.disabled, tool.Name)
		}
		tools.Set()
	}
	s.chain = b.app.chain(s.list, tools)
	if copies.servers != nil {
		copies.servers.Check = ownCalls(s.list, copies.servers.Tools())
	}
	return s
}
