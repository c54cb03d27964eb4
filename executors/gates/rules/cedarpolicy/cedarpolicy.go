// Package cedarpolicy judges calls by policies in the Cedar language:
// https://docs.cedarpolicy.com/.
//
// Start with [Parse]. A call becomes one request for each file, host and simple
// command that it concerns. The principal is the caller, the action is the tool, and
// the context has the input and the session. docs/policy.md has the schema.
//
// It promises that a call passes only if every request is permitted and no policy
// forbids one or fails. A permit with @decision("ask") asks the user. The files are
// read once, at the start; evaluating opens no file.
//
// Why does an error deny? Cedar itself ignores a policy that fails, so a forbid with
// a mistake would forbid nothing.
package cedarpolicy

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	// The reference implementation for Go. Its packages cost 0.03 ms at the start. Do not
	// update to version 1.9 without need: it changes only the JSON of policies and
	// entities, which is not used here, and adds 0.6 MiB to the binary.
	"github.com/cedar-policy/cedar-go"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxPolicies bounds the policies of a file: each is evaluated for each request.
const maxPolicies = 1024

// Policies are the policies of one file. They are immutable.
type Policies struct {
	file string
	set  *cedar.PolicySet
}

// ParseError is a mistake in a file of policies.
type ParseError struct {
	Line int // 1-based; 0 means unknown
	Text string
}

// Error returns the text without the line.
func (e *ParseError) Error() string { return e.Text }

// Parse parses policies. The name of the file appears in verdicts. The error is a
// *ParseError.
func Parse(file string, data []byte) (*Policies, error) {
	list, err := cedar.NewPolicyListFromBytes(file, data)
	if err != nil {
		return nil, withLine(err)
	}
	if len(list) > maxPolicies {
		return nil, &ParseError{Text: fmt.Sprintf("has %s, more than the limit of %d", quantity.Count(len(list), "policy"), maxPolicies)}
	}
	set := cedar.NewPolicySet()
	for i, p := range list {
		if text := checkDecision(p); text != "" {
			return nil, &ParseError{Line: p.Position().Line, Text: text}
		}
		id := cedar.PolicyID(p.Annotations()["id"])
		if id == "" {
			id = cedar.PolicyID(fmt.Sprintf("policy%d", i))
		}
		if !set.Add(id, p) {
			return nil, &ParseError{Line: p.Position().Line, Text: fmt.Sprintf("@id(%q) is the id of another policy", id)}
		}
	}
	return &Policies{file: file, set: set}, nil
}

// checkDecision returns the fault of an annotation @decision, "" if there is none.
func checkDecision(p *cedar.Policy) string {
	switch decision, ok := p.Annotations()["decision"]; {
	case !ok:
		return ""
	case decision != "ask":
		return fmt.Sprintf(`@decision(%q): the only decision is "ask"`, string(decision))
	case p.Effect() == cedar.Forbid:
		return `@decision("ask") belongs to a permit: a forbid always denies`
	}
	return ""
}

// withLine returns a parser's error with its line.
func withLine(err error) *ParseError {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "parser error: "), "parse error at ")
	m := regexp.MustCompile(`^<input>:(\d+):(\d+):?\s*`).FindStringSubmatch(text)
	if m == nil {
		return &ParseError{Text: text}
	}
	line, _ := strconv.Atoi(m[1]) // digits
	return &ParseError{Line: line, Text: fmt.Sprintf("column %s: %s", m[2], text[len(m[0]):])}
}

// String names the file and the number of policies.
func (p *Policies) String() string {
	n := 0
	for range p.set.All() {
		n++
	}
	return executors.Count(n, "policy") + " of " + p.file
}

// Judge decides about a call.
func (p *Policies) Judge(ctx context.Context, call *executors.Call, t target.Targets, s rules.Subject) executors.Verdict {
	total := executors.Verdict{Decision: executors.Allow}
	for _, r := range requests(call, t, s) {
		v := p.request(r)
		if v.Decision == executors.Deny || ctx.Err() != nil {
			return v
		}
		if total.Rule == "" || v.Decision == executors.Ask && total.Decision == executors.Allow {
			total = v
		}
	}
	return total
}

// request decides about one resource.
func (p *Policies) request(r request) executors.Verdict {
	decision, why := cedar.Authorize(p.set, r.entities, r.Request)
	verdict := func(d executors.Decision, rule, reason string) executors.Verdict {
		return executors.Verdict{Decision: d, Rule: fmt.Sprintf("cedar: %s: %s", rule, r.Resource), Reason: reason}
	}
	switch {
	case len(why.Errors) > 0:
		e := why.Errors[0]
		name := p.name(e.PolicyID)
		return verdict(executors.Deny, "error in "+name+": "+e.Message, "a policy cannot be evaluated ("+name+")")
	case decision == cedar.Deny && len(why.Reasons) > 0:
		name := p.name(why.Reasons[0].PolicyID)
		return verdict(executors.Deny, "forbid "+name, "a policy forbids it ("+name+")")
	case decision == cedar.Deny && !r.forbidOnly:
		return verdict(executors.Deny, "no permit", "no policy permits it")
	}
	if r.tree {
		if name := p.mayForbidBelow(r); name != "" {
			return verdict(executors.Ask, fmt.Sprintf("forbid %s: below %s", name, r.Resource),
				fmt.Sprintf("%s may contain files that a policy forbids (%s)", r.Resource.ID, name))
		}
	}
	for _, reason := range why.Reasons {
		if p.set.Get(reason.PolicyID).Annotations()["decision"] == "ask" {
			name := p.name(reason.PolicyID)
			return verdict(executors.Ask, "ask "+name, "a policy asks ("+name+")")
		}
	}
	if decision == cedar.Deny {
		return executors.Verdict{Decision: executors.Allow}
	}
	return verdict(executors.Allow, "permit "+p.name(why.Reasons[0].PolicyID), "")
}

// name returns a policy's id with its file and line.
func (p *Policies) name(id cedar.PolicyID) string {
	return fmt.Sprintf("%s (%s:%d)", id, p.file, p.set.Get(id).Position().Line)
}
