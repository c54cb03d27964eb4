package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// rulesGates are the gates of [tools.policy] and [tools.authorization]; nil ones are
// off.
type rulesGates struct {
	policy, authorization *rules.Authorizer
	calls                 executors.Executor // prepares the calls of /policy check
}

// rulesGates returns the gates of rules for the tools of one session.
func (b *sessionBuilder) rulesGates(levels *trust.Trust, tools executors.Executor) *rulesGates {
	o := rules.Options{
		Session: target.Session{Cwd: b.dirs.roots.Cwd(), Home: b.dirs.home},
		Tools:   catalogue.Known,
		Roots:   b.dirs.roots.Dirs(), Getenv: b.app.environ, MapPaths: b.dirs.toRuleNames,
		Level: func(call *executors.Call) string { return levels.Level(call).String() },
	}
	if b.dirs.toRuleNames != nil {
		for i := range o.Roots {
			o.Roots[i] = b.dirs.toRuleNames(o.Roots[i])
		}
	}
	return &rulesGates{
		policy:        rules.NewPolicy(b.cfg.Tools.Policy, o),
		authorization: rules.NewAuthorization(b.cfg.Tools.Authorization, o),
		calls:         tools,
	}
}

// features returns the gate of [tools.policy] with the command for both, and the gate of
// [tools.authorization].
func (g *rulesGates) features() (policy, authorization Feature) {
	gate := func(name, title string, a *rules.Authorizer) Feature {
		return Feature{Name: name, Link: a.Middleware, OwnCalls: true, Status: func() []string {
			if a == nil {
				return nil
			}
			return []string{title + ": " + a.String()}
		}}
	}
	policy = gate("policy", "Policy", g.policy)
	policy.Builtins = []session.Builtin{{
		Name: "policy", Description: "Show the policy's rules, or check a call against them", Hint: "[check TOOL INPUT]", Run: g.answer,
	}}
	return policy, gate("authorization", "Authorization", g.authorization)
}

const policyUsage = "Usage: `/policy status`, or `/policy check TOOL [INPUT]` with JSON or the tool's only required text."

// answer answers /policy.
func (g *rulesGates) answer(ctx context.Context, rest string) string {
	verb, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch verb {
	case "", "status":
		return fmt.Sprintf("- Policy: %s\n- Authorization: %s\n", g.policy, g.authorization)
	case "check":
		tool, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return g.check(ctx, tool, strings.TrimSpace(text))
	}
	return policyUsage
}

// check returns the decisions of the rules about a call that is not run.
func (g *rulesGates) check(ctx context.Context, tool, text string) string {
	spec, ok := executors.Find(g.calls.Tools(), tool)
	if !ok {
		return fmt.Sprintf("There is no tool %q. %s", tool, policyUsage)
	}
	input, err := local.Input(llm.Tool{Name: spec.Name, Schema: spec.Schema}, text)
	if err != nil {
		return err.Error()
	}
	call := &executors.Call{Tool: tool, Spec: spec, Input: input, Record: &executors.Record{}, Notify: func(executors.Event) {}}
	card, err := g.calls.Prepare(ctx, call)
	call.Card = card
	lines := ""
	for _, gate := range []struct {
		name string
		*rules.Authorizer
	}{{"Policy", g.policy}, {"Authorization", g.authorization}} {
		lines += "- " + gate.name + ": " + decision(ctx, gate.Authorizer, call) + "\n"
	}
	if err != nil {
		lines += "\nThe call itself would fail: " + err.Error() + "\n"
	}
	return lines
}

// decision describes the decision of one gate.
func decision(ctx context.Context, gate *rules.Authorizer, call *executors.Call) string {
	if gate == nil {
		return "off"
	}
	switch v := gate.Check(ctx, call); {
	case v.Decision == "":
		return "no rule matches"
	case v.Rule != "":
		return fmt.Sprintf("%s; %s", v.Decision, v.Rule)
	default:
		return string(v.Decision)
	}
}
