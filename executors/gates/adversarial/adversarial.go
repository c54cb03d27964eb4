// Package adversarial is the gate adversarial_policy: a language model judges each
// call against policies that the operator wrote in plain language.
//
// Start with [Gate.Link]. The gate is off by default. It promises that a call
// runs only after an answer that is exactly ALLOW. A DENY, any other answer, an
// error and a timeout deny the call, unless fail_open is set for the errors. The
// model judges the call and the user's own words; it never sees texts of files,
// of pages or of other tools.
//
// Why is the model not told why the call was denied? Because a reason helps an
// attacker to find the next attempt. The audit log and the user get it.
package adversarial

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/judge"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

//go:embed adversarial.md
var instructions string

// Name is the name of the gate.
const Name = "adversarial_policy"

// Gate judges the calls of one session.
type Gate struct {
	Config Config
	// Policies are the policies to enforce, each a sentence. See [Config.Load].
	Policies []string
	// Model returns the model that judges; nil means that there is none.
	Model func() judge.Model
	Mask  func(string) string // redacts secrets; nil redacts none
	// LoadErr is why the policies could not be read; each call is then treated
	// like one that the model did not judge.
	LoadErr error
}

// Link returns the link of the chain, or nil if the gate is nil.
func (g *Gate) Link() executors.Middleware {
	if g == nil {
		return nil
	}
	return executors.Gate(Name, g.judge)
}

// judge returns the verdict on a call.
func (g *Gate) judge(ctx context.Context, call *executors.Call) (executors.Verdict, error) {
	if slices.Contains(g.Config.ExemptTools, call.Tool) {
		return executors.Verdict{}, nil
	}
	if call.Skipped != nil {
		call.Skipped("the model of " + Name)
		return executors.Verdict{}, nil
	}
	v, err := g.verdict(ctx, call)
	v.Source, v.Change = "tools."+Name+".policies", "the keys policies and exempt_tools of tools."+Name
	return v, err
}

// verdict asks the model about a call.
func (g *Gate) verdict(ctx context.Context, call *executors.Call) (executors.Verdict, error) {
	word, reason, err := g.ask(ctx, call)
	if ctx.Err() != nil {
		return executors.Verdict{}, context.Cause(ctx)
	}
	switch {
	case err != nil && g.Config.FailOpen:
		call.Record.Adversarial = "error:" + err.Error()
		return executors.Verdict{Decision: executors.Allow, Rule: "fail_open", Reason: err.Error()}, nil
	case err != nil:
		call.Record.Adversarial = "error:" + err.Error()
		return executors.Verdict{
			Decision: executors.Deny, Rule: "fail_open = false", Reason: err.Error(),
			Failure: executors.Failuref(executors.PolicyBlocked, "[adversarial] Tool call denied: policy check failed").
				ForUser("The policy check failed, so this was not run: %v. Try it again, or see tools.adversarial_policy in the configuration.", err),
		}, nil
	case word == allow:
		call.Record.Adversarial = "allow"
		return executors.Verdict{Decision: executors.Allow}, nil
	}
	call.Record.Adversarial = strings.TrimSuffix("deny:"+reason, ":")
	why := strings.TrimSuffix("a policy forbids it: "+reason, ": ")
	if g.Config.OnDeny == onDenyAsk {
		return executors.Verdict{Decision: executors.Ask, Reason: why}, nil
	}
	return executors.Verdict{
		Decision: executors.Deny, Reason: why,
		Failure: executors.Failuref(executors.PolicyBlocked, "[adversarial] Tool call denied by policy").ForUser("Denied: %s.", why),
	}, nil
}

// The words of an answer.
const (
	allow = "ALLOW"
	deny  = "DENY"
)

// ask returns the model's word and its reason for people.
func (g *Gate) ask(ctx context.Context, call *executors.Call) (word, reason string, err error) {
	if g.LoadErr != nil {
		return "", "", g.LoadErr
	}
	m := g.Model()
	if m == nil {
		return "", "", errors.New("no model can check the policies")
	}
	question, _, err := judge.Question(call, "", g.Mask)
	if err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(ctx, g.Config.timeout())
	defer cancel()
	answer, err := m.Judge(ctx, instructions+"\nThe policies:\n- "+strings.Join(g.Policies, "\n- "), question)
	if err != nil {
		return "", "", err
	}
	word, reason, ok := judge.Parse(answer, allow, deny)
	if !ok {
		return "", "", errors.New("the model gave an unexpected answer")
	}
	return word, strings.TrimRight(executors.Shown(reason), "."), nil
}

// Status returns the line for /status.
func (g *Gate) Status() string {
	mode := "denies when the check fails"
	if g.Config.FailOpen {
		mode = "allows when the check fails"
	}
	name := "no model"
	if m := g.Model(); m != nil {
		name = m.Name()
	}
	return fmt.Sprintf("Adversarial policy: %s judged by %s; %s", quantity.Count(len(g.Policies), "policy"), name, mode)
}
