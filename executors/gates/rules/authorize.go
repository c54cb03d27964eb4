// Package rules allows or denies calls by rules about tools, paths, texts,
// variables and trust.
//
// Start with [Config] and [Authorization], the two lists of rules. [NewPolicy] and
// [NewAuthorization] return the gate of a list for one session. A list decides by itself: a deny of
// any rule denies, regardless of the order; then every part of the call needs a rule that allows
// it; else the default of the list applies. A simple command of a script is one part.
//
// It promises that rules check what a call reaches, not how it is spelt: files by every name and by
// their real path, commands as the parser found them, shells under all names. A deny holds if it
// matches any of them, and an allow covers a call only if it covers all. Where that is uncertain,
// the user is asked. A gate that is off adds no link.
//
// Why is a bad rule an error at the start? Because a rule that is left out allows
// more than its author meant.
//
// Why does an allow not run the call? Because a gate can only tighten: the call still
// needs the user's permission.
package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// The names of the gates.
const (
	PolicyGate        = "policy"
	AuthorizationGate = "authorization"
)

// Options are the parts of a session that rules refer to.
type Options struct {
	target.Session
	Roots  []string                          // the workspace, absolute and without links; the first is the cwd
	Getenv func(name string) string          // nil means that no variable is set
	Level  func(call *executors.Call) string // the trust level of a call; nil means trusted
	// Tools returns the tools that rules may name; nil means none.
	Tools func() []executors.Tool
	// MapPaths replaces each absolute path of a text by its name in the rules; nil changes
	// no text.
	MapPaths func(text string) string
}

// Authorizer is the gate of one table of rules. A nil one is off.
type Authorizer struct {
	name    string
	lists   []list // the user's, then the repository's
	file    string // of the rules, which no checked call may change; empty: the configuration
	options Options
}

// list is a compiled list of rules.
type list struct {
	rules []rule
	// fallback is the decision about a call that no rule matches; empty means no decision.
	fallback executors.Decision
}

// NewPolicy returns the gate of [tools.policy], nil if it is off. The configuration
// must be valid.
func NewPolicy(c Config, o Options) *Authorizer {
	var lists []list
	if c.Enabled {
		lists = append(lists, compile(c.ruleset(), c.DefaultEffect, o))
	}
	if len(c.repository) > 0 {
		lists = append(lists, compile(c.repository, "", o))
	}
	if len(lists) == 0 {
		return nil
	}
	a := &Authorizer{name: PolicyGate, lists: lists, options: o}
	if c.Enabled {
		a.file = c.File
	}
	return a
}

// NewAuthorization returns the gate of [tools.authorization], nil if it is off. The
// configuration must be valid.
func NewAuthorization(c Authorization, o Options) *Authorizer {
	var lists []list
	if c.Enabled {
		var other executors.Decision
		if slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.Effect == executors.Allow }) {
			other = executors.Deny // a list of allowed calls denies all others
		}
		lists = append(lists, compile(c.Rules, other, o))
	}
	if len(c.repository) > 0 {
		lists = append(lists, compile(c.repository, "", o))
	}
	if len(lists) == 0 {
		return nil
	}
	return &Authorizer{name: AuthorizationGate, lists: lists, options: o}
}

// Middleware puts the gate around next; a nil gate adds nothing.
func (a *Authorizer) Middleware(next executors.Executor) executors.Executor {
	if a == nil {
		return next
	}
	return executors.Gate(a.name, func(ctx context.Context, call *executors.Call) (executors.Verdict, error) {
		v := a.Check(ctx, call)
		table := "tools." + a.name
		v.Source, v.Change = cmp.Or(v.Source, a.file, table), "the rules of "+table+": /policy shows them"
		if ctx.Err() != nil {
			return v, context.Cause(ctx)
		}
		return v, nil
	})(next)
}

// maxTime bounds the check of one call. A call that takes longer is denied.
const maxTime = time.Second

// Check returns the decision about a prepared call. It is empty if no rule matches
// and there is no default.
func (a *Authorizer) Check(ctx context.Context, call *executors.Call) executors.Verdict {
	begin := time.Now()
	s := newSubject(call, a.options, func() bool { return ctx.Err() != nil || time.Since(begin) > maxTime })
	if s.changes(a.file) {
		return executors.Verdict{
			Decision: executors.Deny,
			Rule:     "the rules' own file: " + a.file, Reason: "the call may change the rules in " + a.file,
		}
	}
	var total executors.Verdict
	for _, l := range a.lists {
		total = stronger(total, l.check(s))
	}
	if s.stopped() {
		return executors.Verdict{
			Decision: executors.Deny,
			Rule:     "limit: the rules took too long", Reason: "the rules took longer than " + maxTime.String(),
		}
	}
	return total
}

// stronger returns the stronger of two verdicts. Of two equally strong ones it
// returns the first, with the rules of both.
func stronger(a, b executors.Verdict) executors.Verdict {
	rank := []executors.Decision{"", executors.Allow, executors.Ask, executors.Deny}
	switch d := slices.Index(rank, a.Decision) - slices.Index(rank, b.Decision); {
	case d > 0, b.Decision == "":
		return a
	case d < 0:
		return b
	}
	a.Rule += "; " + b.Rule
	return a
}

// check returns the decision of one list.
func (l list) check(s *subject) executors.Verdict {
	var ask executors.Verdict
	for _, r := range l.rules {
		if r.Effect != executors.Deny || !s.concerns(r) {
			continue
		}
		switch decision, why := s.matchDeny(r); decision {
		case executors.Deny:
			return executors.Verdict{Decision: executors.Deny, Rule: r.trace(s), Reason: "a rule denies it (" + r.where() + ")", Source: r.position}
		case executors.Ask:
			if ask.Decision == "" {
				ask = executors.Verdict{Decision: executors.Ask, Rule: r.trace(s), Reason: why + " (" + r.where() + ")", Source: r.position}
			}
		}
	}
	if traces, ok := l.covers(s); ok {
		return stronger(ask, executors.Verdict{Decision: executors.Allow, Rule: traces})
	}
	if l.fallback == "" {
		return ask
	}
	return stronger(ask, executors.Verdict{
		Decision: l.fallback, Rule: fmt.Sprintf("default: %s (no matching rules)", l.fallback), Reason: "no rule allows it",
	})
}

// covers reports whether each part of a call is covered by a rule that allows, and
// returns the traces of these rules.
func (l list) covers(s *subject) (traces string, ok bool) {
	var used []string
	for _, p := range s.parts {
		if p.Guess() {
			continue
		}
		i := slices.IndexFunc(l.rules, func(r rule) bool { return r.Effect == executors.Allow && s.concerns(r) && s.allowedBy(r, p) })
		if i < 0 {
			return "", false
		}
		if trace := l.rules[i].trace(s); !slices.Contains(used, trace) {
			used = append(used, trace)
		}
	}
	return strings.Join(used, "; "), len(used) > 0
}

// rule is a compiled rule.
type rule struct {
	Rule
	index int
	tool  func(name string) bool
	paths []pathPattern
	args  matcher // nil: any text
	level int     // the least level of trust
}

// compile compiles valid rules.
func compile(rules []Rule, other executors.Decision, o Options) list {
	l := list{fallback: other}
	for i, r := range rules {
		c := rule{Rule: r, index: i, level: rank(r.TrustLevel)}
		c.tool = compileTool(strings.TrimSpace(r.Tool))
		for _, p := range r.Paths {
			c.paths = append(c.paths, compilePath(p, o)...)
		}
		if r.ArgsMatch != "" {
			c.args = compileArgs(r.ArgsMatch)
		}
		l.rules = append(l.rules, c)
	}
	return l
}

// trace names the rule for the audit log.
func (r rule) trace(s *subject) string {
	text := fmt.Sprintf("rule[%d] %s: tool=%s matched %s", r.index, r.Effect, s.call.Tool, r.Tool)
	if r.position != "" {
		text += " (" + r.position + ")"
	}
	return text
}

// where names the rule for people.
func (r rule) where() string {
	return cmp.Or(r.position, fmt.Sprintf("rule %d", r.index))
}

// String describes the gate for /policy status.
func (a *Authorizer) String() string {
	if a == nil {
		return "off"
	}
	n := 0
	for _, l := range a.lists {
		n += len(l.rules)
	}
	text := quantity.Count(n, "rule")
	if a.file != "" {
		text += " of " + a.file
	}
	if a.lists[0].fallback == "" {
		return text + ", no default"
	}
	return text + ", default " + string(a.lists[0].fallback)
}
