package app

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/executors/cache"
	"github.com/zeph-acp/zeph-acp/executors/overflow"
	"github.com/zeph-acp/zeph-acp/executors/quota"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
)

// keeper holds the state of one session's chain from turn to turn.
type keeper struct {
	shell    *shell.Executor
	box      *sandbox.Sandbox // nil where it is off
	commands func() string    // why commands do not run where the client would; "" if they do
	cache    *cache.Cache
	quota    *quota.Quota
	filter   *filter.Link
	long     *overflow.Overflow
	system   *systemPrompt
	off      []string // the tools that are switched off

	unasked  atomic.Bool  // the user wants no question after max_tool_iterations rounds
	suspects atomic.Int64 // calls in which the model may have made something up
	set      *toolset.Set
}

// Reset forgets results and the system prompt, and begins to count anew; what runs
// in the background goes on.
func (k *keeper) Reset() {
	k.cache.Clear()
	k.system.forget()
	k.quota.Reset()
	k.set.Reset()
}

// Status returns the lines of /status about the tools.
func (k *keeper) Status() []string {
	var lines []string
	if most := k.quota.Limits.MaxToolCallsPerSession; most > 0 {
		lines = append(lines, fmt.Sprintf("Tool calls: %d of %d", min(k.quota.Used(), most), most))
	}
	if s := k.cache.Stats(); s.Hits > 0 {
		lines = append(lines, fmt.Sprintf("Result cache: %d of %d looks were answered from it", s.Hits, s.Hits+s.Misses))
	}
	lines = append(lines, k.filter.Metrics.Status(context.Background())...)
	if k.box != nil {
		lines = append(lines, k.box.State())
	}
	if state := sandbox.ReadOnlyState(); state != "" {
		lines = append(lines, state)
	}
	if state := k.commands(); state != "" {
		lines = append(lines, state)
	}
	lines = append(lines, k.set.Status()...)
	if n := k.suspects.Load(); n > 0 {
		lines = append(lines, fmt.Sprintf("Suspected hallucinations: %d of the tool calls; audit.jsonl says what they name", n))
	}
	if jobs := k.shell.Background(); len(jobs) > 0 {
		lines = append(lines, "Background: "+strings.Join(jobs, "; "))
	}
	return lines
}

// Close ends what runs in the background, and stores what was counted.
func (k *keeper) Close() {
	_ = k.shell.Close() // it cannot fail in a way that anybody could mend
	k.filter.Metrics.Flush()
}
