// Package utility skips calls of a model that are worth less than they cost.
//
// Put [Gate.Link] into the chain of one session, and call [Gate.Begin] before each turn. Each call
// has a score: its expected gain minus its cost in tokens. A call that the turn has made before
// gets a penalty, and a tool that was not used lately a bonus. A call below the threshold is not
// run, and its result says so.
//
// It promises that these calls are never skipped for their score: a call that the user
// asked for, a call of a tool that changes something, and a call of an exempt tool. A
// score that cannot be computed denies the call.
//
// Why is it off by default? It saves tokens only with models that repeat calls, and a
// wrong score costs a round.
package utility

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Name is the name of the gate.
const Name = "utility"

// Gate scores the calls of one session. It may be used concurrently. Start with
// [New].
type Gate struct {
	cfg           Config
	exempt        map[string]bool // names as [plainName] returns them
	highGainTools map[string]bool // the tools of HighGainTools

	mu            sync.Mutex
	callsThisTurn map[[sha256.Size]byte]bool // the calls of this turn
	recent        []string                   // the tools of the last calls
	sizes         map[string]mean            // of the results of each tool
}

// mean is the average size of results, in bytes.
type mean struct{ sum, n int }

// New returns a gate that has seen no call.
func New(cfg Config) *Gate {
	return &Gate{
		cfg: cfg, exempt: setOf(cfg.ExemptTools), highGainTools: setOf(cfg.HighGainTools),
		callsThisTurn: map[[sha256.Size]byte]bool{}, sizes: map[string]mean{},
	}
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[plainName(name)] = true
	}
	return set
}

// plainName returns a name of a tool in the form in which names are compared.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, ":", "_")) }

// Link returns the gate, or nil if it is off.
func (g *Gate) Link() executors.Middleware {
	if !g.cfg.Enabled {
		return nil
	}
	gate := executors.Gate(Name, g.check)
	return func(next executors.Executor) executors.Executor { return gate(observer{next, g}) }
}

// Begin begins a turn, which has made no call.
func (g *Gate) Begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.callsThisTurn)
}

// Reset drops all that the gate has seen.
func (g *Gate) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.callsThisTurn)
	clear(g.sizes)
	g.recent = nil
}

// check denies a call whose score is below the threshold, unless the call is exempt.
func (g *Gate) check(_ context.Context, call *executors.Call) (executors.Verdict, error) {
	// Without the tools that load skills, a turn with skills would stall.
	if call.Spec.Subject.Of == executors.SkillSubject || g.exempt[plainName(call.Tool)] || userAsked(call) {
		return executors.Verdict{}, nil
	}
	s := g.score(call)
	total := s.total(g.cfg)
	v := executors.Verdict{Decision: executors.Allow, Rule: s.String(), Reason: fmt.Sprintf("the score is %.2f", total), Source: "tools.utility.threshold"}
	v.Change = "the keys tools.utility.threshold and exempt_tools"
	switch {
	case math.IsNaN(total) || math.IsInf(total, 0):
		v.Decision, v.Reason = executors.Deny, "the score cannot be computed"
		v.Failure = executors.Failuref(executors.PolicyBlocked, "%s was not run: its use cannot be estimated", call.Tool).
			ForUser("Not run: the score of this call cannot be computed. The key tools.utility has its weights.")
	case total < g.cfg.Threshold && !hasEffects(call):
		v.Decision, v.Reason = executors.Deny, fmt.Sprintf("the score %.2f is below the threshold %.2f", total, g.cfg.Threshold)
		v.Failure = skippedFailure(call, s)
	}
	return v, nil
}

// hasEffects reports whether a call changes something, in the session or outside. No
// score skips such a call.
func hasEffects(call *executors.Call) bool {
	e := call.Spec.Effect
	return e.Has(executors.Mutates) || e.Has(executors.Internal) || !e.Has(executors.Reads)
}

// skippedFailure returns the result of a call that is not worth its cost.
func skippedFailure(call *executors.Call, s score) *executors.Failure {
	f := executors.Failuref(executors.PolicyBlocked, "%s was skipped: it would add little", call.Tool).
		Hint("Answer with what you know, or make a call that brings something new.")
	if s.redundancy > 0 {
		f = executors.Failuref(executors.PolicyBlocked, "%s was skipped: this turn has made the same call before", call.Tool).
			Hint("Use the earlier result.")
	}
	return f.ForUser("Skipped by utility: the call would add little.")
}

// observer remembers the calls that ran.
type observer struct {
	executors.Executor
	gate *Gate
}

func (o observer) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := o.Executor.Execute(ctx, call)
	if err == nil && !res.Denied() {
		o.gate.observe(call, len(res.ForModel()))
	}
	return res, err
}

func (g *Gate) observe(call *executors.Call, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.callsThisTurn[keyOf(call)] = true
	if g.recent = append(g.recent, call.Tool); len(g.recent) > recentCalls {
		g.recent = g.recent[1:]
	}
	m := g.sizes[call.Tool]
	g.sizes[call.Tool] = mean{m.sum + size, m.n + 1}
	if hasEffects(call) {
		clear(g.callsThisTurn) // a read may have another result now
	}
}

// keyOf identifies a call by tool and input.
func keyOf(call *executors.Call) [sha256.Size]byte {
	return sha256.Sum256([]byte(call.Tool + "\x00" + string(call.Input)))
}
