package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/answers"
	"github.com/zeph-acp/zeph-acp/executors/cache"
	"github.com/zeph-acp/zeph-acp/executors/hooks"
	"github.com/zeph-acp/zeph-acp/executors/lsp"
	"github.com/zeph-acp/zeph-acp/executors/mcp"
	"github.com/zeph-acp/zeph-acp/executors/memory"
	"github.com/zeph-acp/zeph-acp/executors/overflow"
	"github.com/zeph-acp/zeph-acp/executors/quota"
	"github.com/zeph-acp/zeph-acp/executors/rewind"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/worktree"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session/agent/filecommand"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// keeper holds the state of one session's chain across turns.
type keeper struct {
	shell    *shell.Executor
	box      *sandbox.Sandbox // nil if it is off
	commands func() string    // returns why commands do not run in the client's terminals; "" if they do
	cache    *cache.Cache
	quota    *quota.Quota
	filter   *filter.Link
	long     *overflow.Overflow
	memory   *memory.Memory
	system   *systemPrompt
	hooks    *hooks.Session
	skills   *skills.Set
	written  *filecommand.Set // the commands of files
	answers  *answers.Project
	tasks    *scheduled
	off      []string // the names of disabled tools

	unasked  atomic.Bool  // the user wants no question after max_tool_iterations rounds
	suspects atomic.Int64 // calls with values that the model may have made up
	set      *toolset.Set
	policies *adversarial.Gate // nil if it is off
	mcp      *mcp.Session
	model    func() llm.Model
	gates    gates
	rules    *rulesGates
	rewind   *rewind.Session                                       // nil if no files are kept
	confirm  func(ctx context.Context, question, text string) bool // nil if there is no user
	helpers  *subagent.Set
	lsp      *lsp.Session       // nil if it is off
	tools    executors.Executor // without the chain
	place    place
	apart    func(*worktree.Copy) (place, *shell.Executor, error) // makes the place of a copy
	copies   copies
}

// Reset drops the results and the system prompt, and restarts the counters.
// Background commands keep running.
func (k *keeper) Reset() {
	k.cache.Clear()
	k.system.forget()
	k.quota.Reset()
	k.set.Reset()
	k.gates.reset()
	k.hooks.Reset()
	k.skills.Reset()
	k.helpers.Reset()
	k.memory.Reset()
}

// Status returns the lines about tools for /status.
func (k *keeper) Status() []string {
	var lines []string
	if most := k.quota.Limits.MaxToolCallsPerSession; most > 0 {
		lines = append(lines, fmt.Sprintf("Tool calls: %d of %d", min(k.quota.Used(), most), most))
	}
	if s := k.cache.Stats(); s.Hits > 0 {
		lines = append(lines, fmt.Sprintf("Result cache: %d of %d lookups were hits", s.Hits, s.Hits+s.Misses))
	}
	lines = append(lines, k.filter.Metrics.Status(context.Background())...)
	lines = append(lines, k.rules.status()...)
	if k.box != nil {
		lines = append(lines, k.box.State())
	}
	if state := sandbox.ReadOnlyState(); state != "" {
		lines = append(lines, state)
	}
	if state := k.commands(); state != "" {
		lines = append(lines, state)
	}
	lines = append(lines, k.lsp.Status()...)
	lines = append(lines, k.set.Status()...)
	lines = append(lines, k.memory.Status()...)
	lines = append(lines, k.gates.status()...)
	if k.policies != nil {
		lines = append(lines, k.policies.Status())
	}
	if n := k.suspects.Load(); n > 0 {
		lines = append(lines, fmt.Sprintf("Suspected hallucinations: %d; audit.jsonl names the values", n))
	}
	if jobs := k.shell.Background(); len(jobs) > 0 {
		lines = append(lines, "Background: "+strings.Join(jobs, "; "))
	}
	return lines
}

// Close ends background commands, MCP servers and language servers, and stores the counters.
func (k *keeper) Close() {
	var servers sync.WaitGroup
	servers.Go(k.mcp.Close)
	servers.Go(k.lsp.Close)
	defer servers.Wait()
	_ = k.shell.Close() // no caller could act on its failure
	k.filter.Metrics.Flush()
}
