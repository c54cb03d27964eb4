package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/links/quota"
	"github.com/zeph-acp/zeph-acp/executors/links/recent"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/agent/filecommand"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// sessionTools are the tools of one session, and the state that its chain keeps across
// turns. It implements session.Tools.
type sessionTools struct {
	// The tools, and the places where they work.
	tools         executors.Executor // without the chain
	disabled      []string           // the names of disabled tools
	place         place              // the directories of the session
	copies        copySet            // the copies in which sub-agents work
	shell         *shell.Executor
	terminalState func() string // returns why commands do not run in the client's terminals; "" if they do
	memory        *memory.Memory
	skills        *skills.Set
	subagents     *subagent.Set
	mcp           *mcp.Session
	tasks         *sessionTasks
	commandFiles  *filecommand.Set // the commands of files

	// The links of the chain.
	sandbox     *sandbox.Sandbox // nil if it is off
	boxState    func() string    // of the box
	rules       *rulesGates
	hooks       *hooks.Session
	adversarial *adversarial.Gate // nil if it is off
	gates       gates
	answers     *answers.Project // the user's "always" answers
	quota       *quota.Quota
	recent      *recent.Calls
	toolset     *toolset.Set
	offered     func() []executors.Tool // the tools of the session's chain
	forget      func()                  // drops the session's scanner of credentials
	lsp         *lsp.Session            // nil if it is off
	rewind      *rewind.Session         // nil if no files are kept
	cache       *cache.Cache
	overflow    *overflow.Overflow
	filter      *filter.Link

	// The turns of the session.
	system          *systemPrompt
	model           func() llm.Model
	confirm         func(ctx context.Context, question, text string) bool // nil if there is no user
	unlimitedRounds atomic.Bool                                           // the user wants no question after max_tool_iterations rounds
	suspectedCalls  atomic.Int64                                          // calls with values that the model may have made up
}

// Reset drops the results and the system prompt, and restarts the counters.
// Background commands keep running.
func (st *sessionTools) Reset() {
	st.cache.Clear()
	st.system.forget()
	st.quota.Reset()
	st.toolset.Reset()
	st.gates.reset()
	st.hooks.Reset()
	st.skills.Reset()
	st.subagents.Reset()
	st.memory.Reset()
}

// Status returns the lines about tools for /status.
func (st *sessionTools) Status() []string {
	var lines []string
	if limit := st.quota.Limits.MaxToolCallsPerSession; limit > 0 {
		lines = append(lines, fmt.Sprintf("Tool calls: %d of %d", min(st.quota.Used(), limit), limit))
	}
	if s := st.cache.Stats(); s.Hits > 0 {
		lines = append(lines, fmt.Sprintf("Result cache: %d of %s were hits", s.Hits, quantity.Count(s.Hits+s.Misses, "lookup")))
	}
	lines = append(lines, st.recent.Status()...)
	lines = append(lines, st.filter.Metrics.Status(context.Background())...)
	lines = append(lines, st.rules.status()...)
	if st.sandbox != nil {
		lines = append(lines, st.sandbox.State())
	}
	if state := st.boxState(); state != "" {
		lines = append(lines, strings.Split(state, "\n")...)
	}
	if state := st.terminalState(); state != "" {
		lines = append(lines, state)
	}
	lines = append(lines, st.lsp.Status()...)
	lines = append(lines, st.toolset.Status()...)
	lines = append(lines, st.memory.Status()...)
	lines = append(lines, st.gates.status()...)
	if st.adversarial != nil {
		lines = append(lines, st.adversarial.Status())
	}
	if n := st.suspectedCalls.Load(); n > 0 {
		lines = append(lines, fmt.Sprintf("Suspected hallucinations: %d; audit.jsonl names the values", n))
	}
	if jobs := st.shell.Background(); len(jobs) > 0 {
		lines = append(lines, "Background: "+strings.Join(jobs, "; "))
	}
	return lines
}

// Why explains the decision about one of the last calls, for /why.
func (st *sessionTools) Why(_ context.Context, rest string) string { return st.recent.Why(rest) }

// Close ends background commands, MCP servers and language servers, and stores the counters.
func (st *sessionTools) Close() {
	var servers sync.WaitGroup
	servers.Go(st.mcp.Close)
	servers.Go(st.lsp.Close)
	defer servers.Wait()
	_ = errors.Join(st.shell.Close(), st.sandbox.Close()) // no caller could act on their failure
	st.filter.Metrics.Flush()
	st.forget()
}

// ready brings the hooks and the tools of a session up to date before a turn. typed is the
// text of its prompt.
func (st *sessionTools) ready(ctx context.Context, typed string) {
	st.copies.showPatches()
	st.tasks.offerFor(typed)
	st.hooks.Ready(ctx)
	if command, ok := strings.CutPrefix(strings.TrimSpace(typed), "/"); ok {
		st.mcp.Await(ctx, command)
	}
	st.mcp.Ready(ctx)
	st.readySkills(ctx)
	st.commandFiles.Ready()
	st.subagents.Ready(ctx)
	st.memory.Refresh(ctx)
}
