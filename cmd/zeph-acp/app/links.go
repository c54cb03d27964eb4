package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/links/quota"
	"github.com/zeph-acp/zeph-acp/executors/links/recent"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
)

// recentFeature keeps the decisions about the last calls.
func (b *sessionBuilder) recentFeature() Feature {
	calls := &recent.Calls{Place: b.app.placeOf, Hidden: func(tool string) (executors.Verdict, bool) { return b.policy.Load().Hidden(tool) }}
	return Feature{
		Name: "recent", Link: calls.Middleware, Status: calls.Status,
		Builtins: []session.Builtin{{
			Name: "why", Description: "Explain who decided about the last call, or the N-th last, and why", Hint: "[N]",
			Run: func(_ context.Context, rest string) string { return calls.Why(rest) },
		}},
	}
}

// quotaFeature limits the calls of a session.
func (b *sessionBuilder) quotaFeature() Feature {
	q := &quota.Quota{Limits: b.cfg.Tools.Limits, Save: stateSaver(b.session, quota.Name)}
	return Feature{
		Name: "quota", Link: q.Middleware, Reset: q.Reset,
		BeforeTurn: func() { q.Restore(b.session.State(quota.Name)) },
		Status: func() []string {
			limit := q.Limits.MaxToolCallsPerSession
			if limit == 0 {
				return nil
			}
			return []string{fmt.Sprintf("Tool calls: %d of %d", min(q.Used(), limit), limit)}
		},
	}
}

// toolsetFeature selects the tools that the model is offered.
func (b *sessionBuilder) toolsetFeature(s *sessionFeatures) Feature {
	set := toolset.New(toolset.Config{
		TAFC: b.cfg.Tools.TAFC, Filter: b.cfg.Agent.ToolFilter, Dependencies: b.cfg.Tools.Dependencies,
	}, &b.app.vectors, b.app.Log)
	return Feature{
		Name: "toolset", Link: set.Middleware, Tools: set.Search(), Late: true, Status: set.Status, Reset: set.Reset,
		Turns: func(a *agent.Agent) { a.Toolset = set },
		Warnings: func() []string {
			if !b.cfg.Tools.Enabled {
				return nil
			}
			return set.Warnings(func() []executors.Tool { return slices.Concat(s.chain.Tools(), catalogue.Known()) })
		},
	}
}

// cacheFeature returns earlier results of calls again.
func cacheFeature(results *cache.Cache, sh *shell.Executor) Feature {
	results.Busy = func() bool { return sh.Running() > 0 }
	return Feature{
		Name: "cache", Link: results.Middleware, Reset: results.Clear,
		Status: func() []string {
			if s := results.Stats(); s.Hits > 0 {
				return []string{fmt.Sprintf("Result cache: %d of %s were hits", s.Hits, quantity.Count(s.Hits+s.Misses, "lookup"))}
			}
			return nil
		},
	}
}

// overflow returns the limit of results, and the store of those that are too long.
func (b *sessionBuilder) overflow() *overflow.Overflow {
	o := &overflow.Overflow{
		Memory: b.app.Overflow, MaxChars: b.cfg.Tools.MaxOutputChars, Budget: b.cfg.Tools.ResultBudget, Config: b.cfg.Tools.Overflow, Log: b.app.Log,
		Summarizer: b.models.summarizer,
	}
	if b.app.Store != nil { // a nil *store.DB would be a Store that is not nil
		o.Store = b.app.Store
	}
	return o
}

// overflowFeature limits the results of tools, and stores those that are too long for the model.
func (b *sessionBuilder) overflowFeature(o *overflow.Overflow) Feature {
	return Feature{
		Name: "overflow", Link: o.Middleware, Tools: o.Tools(),
		Turns: func(a *agent.Agent) {
			a.Shorten = func(ctx context.Context, text string) string {
				b.session.Stored(ctx) // an overflow belongs to a stored session
				return o.Shorten(ctx, b.session.ID, text)
			}
			a.Keep = func(ctx context.Context, text string) (string, bool) {
				b.session.Stored(ctx)
				return o.Keep(ctx, b.session.ID, text)
			}
		},
	}
}
