package permission

import (
	"context"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Arbiter decides questions in the user's place. It returns Ask if it is unsure,
// and a reason for people with every decision. because says why the user would be
// asked.
type Arbiter interface {
	Decide(ctx context.Context, call *executors.Call, because string) (executors.Decision, string)
}

// decidedByArbiter lets the arbiter answer a question in the mode auto-judge, once for
// each call. It reports whether the arbiter decided, and then sets d's verdict. The arbiter decides only questions that an
// "always" of the user could answer: the reasons of gates, deletions, and
// changes in .git and .zeph stay with the user. So do commands that destroy or
// publish data, and those that cannot be parsed.
func (p permissionCheck) decidedByArbiter(ctx context.Context, call *executors.Call, d *decision) bool {
	if p.Arbiter == nil || !mode(p.Mode()).usesArbiter || len(d.keys) == 0 ||
		len(call.Ask) > 0 || slices.ContainsFunc(call.Record.Verdicts, byArbiter) || p.mayDamage(call.Card) {
		return false
	}
	if call.Skipped != nil {
		call.Skipped("the model that judges in this mode")
		return false
	}
	action, reason := p.Arbiter.Decide(ctx, call, strings.TrimPrefix(d.why, "default: "))
	if ctx.Err() != nil {
		return false
	}
	call.Record.Add(executors.Verdict{
		Gate: executors.JudgeGate, Decision: action, Reason: reason, Source: sessionMode, Change: "the command /mode",
	})
	switch action {
	case Allow:
		d.verdict = verdict{action: Allow, why: "auto-judge: " + reason}
	case Deny:
		d.verdict = verdict{action: Deny, why: "auto-judge: " + reason, userText: "Denied in your place: " + reason + ". The command /mode switches the mode."}
	default:
		return false
	}
	return true
}

// byArbiter reports whether a verdict comes from the arbiter.
func byArbiter(v executors.Verdict) bool { return v.Gate == executors.JudgeGate }

// mayDamage reports whether a command may destroy or publish data, or cannot be parsed.
func (p permissionCheck) mayDamage(card executors.Card) bool {
	script := card.Script
	return script != nil && (script.Err != nil || slices.ContainsFunc(script.Commands, func(c *command.Command) bool { return confirms(c, "") != "" }))
}
