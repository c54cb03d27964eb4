package toolset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// graph holds the dependencies of the tools. requires has no cycles.
type graph struct {
	requires, prefers map[string][]string
}

// newGraph builds the graph from the rules. The tools of a cycle would wait for each other forever.
// So their requirements are dropped, and a note names them. Tools that require one of them still
// wait.
func newGraph(rules map[string]Rule) (graph, []string) {
	g := graph{map[string][]string{}, map[string][]string{}}
	for name, r := range rules {
		if len(r.Requires) > 0 {
			g.requires[name] = r.Requires
		}
		if len(r.Prefers) > 0 {
			g.prefers[name] = r.Prefers
		}
	}
	var notes []string
	for _, cycle := range g.cycles() {
		for _, name := range cycle {
			delete(g.requires, name)
		}
		notes = append(notes, fmt.Sprintf("tools.dependencies.rules: %s require each other in a cycle: their requirements are ignored.", strings.Join(cycle, ", ")))
	}
	return g, notes
}

// cycles returns the groups of tools that require each other, by Tarjan's
// algorithm, sorted.
func (g graph) cycles() [][]string {
	var (
		found      [][]string
		stack      []string
		index, low = map[string]int{}, map[string]int{}
		on         = map[string]bool{}
		visit      func(name string)
	)
	visit = func(name string) {
		index[name] = len(index) + 1
		low[name] = index[name]
		stack = append(stack, name)
		on[name] = true
		for _, next := range g.requires[name] {
			if index[next] == 0 {
				visit(next)
				low[name] = min(low[name], low[next])
			} else if on[next] {
				low[name] = min(low[name], index[next])
			}
		}
		if low[name] != index[name] {
			return
		}
		at := slices.Index(stack, name)
		group := slices.Clone(stack[at:])
		stack = stack[:at]
		for _, member := range group {
			on[member] = false
		}
		if len(group) > 1 || slices.Contains(g.requires[name], name) {
			slices.Sort(group)
			found = append(found, group)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.requires)) {
		if index[name] == 0 {
			visit(name)
		}
	}
	slices.SortFunc(found, slices.Compare)
	return found
}

// boost returns the increase of a tool's score by the completed tools that it
// prefers; the caller holds mu.
func (s *Set) boost(name string) float64 {
	n := 0
	for _, other := range s.graph.prefers[name] {
		if s.completed[other] {
			n++
		}
	}
	return min(float64(n)*s.cfg.Dependencies.BoostPerDep, s.cfg.Dependencies.MaxTotalBoost)
}

// unmet returns the tools that must complete before this one; the caller holds
// mu.
func (s *Set) unmet(name string) []string {
	var out []string
	for _, other := range s.graph.requires[name] {
		if !s.completed[other] && !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}

// bypasses reports whether the tool is available in this turn regardless of its
// requirements.
func (s *Set) bypasses(t *turn, name string) bool { return s.alwaysOn[name] || t.mentioned[name] }

// isHidden reports whether the tool must wait for those that it requires; the caller holds
// mu.
func (s *Set) isHidden(t *turn, name string) bool {
	return !t.ignoresRules && !s.bypasses(t, name) && len(s.unmet(name)) > 0
}

// deadlocked reports whether the rules would leave the model without tools: all
// that are not always on wait, or all that the filter picked. The caller holds
// mu.
func (s *Set) deadlocked(t *turn) bool {
	if len(s.graph.requires) == 0 {
		return false
	}
	waiting, free, offered := 0, 0, 0
	for _, tool := range t.all {
		waits := s.isHidden(t, tool.Name)
		if _, picked := t.picked[tool.Name]; picked && !waits {
			offered++
		}
		switch {
		case s.alwaysOn[tool.Name]:
		case waits:
			waiting++
		default:
			free++
		}
	}
	return waiting > 0 && (free == 0 || offered == 0)
}

// exclusions returns the tools that would be hidden if the turn followed the rules, each with
// the tools that must complete first; the caller holds mu.
func (s *Set) exclusions(t *turn) []string {
	var out []string
	for _, tool := range t.all {
		if unmet := s.unmet(tool.Name); len(unmet) > 0 && !s.bypasses(t, tool.Name) {
			out = append(out, fmt.Sprintf("%s (requires %s)", tool.Name, strings.Join(unmet, ", ")))
		}
	}
	return out
}

// Middleware refuses a model's call if its tool is hidden or was left out, and records
// which tools completed. It belongs where calls that cannot run are refused before
// anything checks them.
func (s *Set) Middleware(next executors.Executor) executors.Executor {
	if len(s.graph.requires)+len(s.graph.prefers) == 0 && s.cfg.Filter.Enabled == Off {
		return next
	}
	return gate{next, s}
}

// gate is the executor that Middleware returns.
type gate struct {
	executors.Executor
	set *Set
}

func (g gate) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	if err := g.set.checkCall(call); err != nil {
		return executors.Card{}, err
	}
	return g.Executor.Prepare(ctx, call)
}

func (g gate) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if err := g.set.checkCall(call); err != nil {
		g.set.countRefused(call.Tool)
		return executors.FailWith(err), nil
	}
	res, err := g.Executor.Execute(ctx, call)
	if err == nil && !res.Failed {
		g.set.mu.Lock()
		g.set.completed[call.Tool] = true
		g.set.mu.Unlock()
	}
	return res, err
}

// checkCall returns the failure of a call whose tool is hidden or was left out, or nil if
// it may run. A call that the user typed is the user's decision.
func (s *Set) checkCall(call *executors.Call) error {
	if call.Origin != executors.Model {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isHidden(&s.turn, call.Tool) {
		return s.checkOffered(call)
	}
	first := strings.Join(s.unmet(call.Tool), ", ")
	return executors.Failuref(executors.ToolNotFound, "%s is not available yet: these tools must complete first: %s", call.Tool, first).
		Hint("Call %s, and %s once that succeeded.", first, call.Tool)
}
