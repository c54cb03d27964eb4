package summary

import (
	"cmp"
	"strings"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/executors"
)

// Decision returns in words who decided about a call, and why: the user, a gate, a rule
// or a mode. It is empty for a call about which nothing decided.
func Decision(e *audit.Entry) string {
	text, rule := decider(e), e.Rule
	if gate, rest, ok := strings.Cut(rule, ": "); ok && strings.HasPrefix(text, byGate+gate+" ") {
		rule = rest // the text names the gate
	}
	switch {
	case text == "":
		return rule
	case rule == "" || strings.Contains(text, "("+rule+")") || e.Answer != "" && strings.HasPrefix(rule, "the user "):
		return text
	}
	return text + ": " + strings.TrimPrefix(rule, "default: ")
}

// byGate begins the words for a call that a gate denied.
const byGate = "Denied by the gate "

// decider returns in words who decided, or the decision of the rules.
func decider(e *audit.Entry) string {
	if e.Answer != "" {
		return cmp.Or(executors.AnswerInWords(e.Answer), "The user answered "+e.Answer)
	}
	for _, v := range e.Gates {
		if v.Decision == executors.Deny {
			return byGate + v.Gate + reasonInParentheses(v)
		}
	}
	return decided(e.Decision)
}

// reasonInParentheses returns the reason or the rule of a verdict; "" if it has neither.
func reasonInParentheses(v executors.Verdict) string {
	if why := cmp.Or(v.Reason, v.Rule); why != "" {
		return " (" + why + ")"
	}
	return ""
}

// decided describes the decision of rules and mode.
func decided(decision string) string {
	switch decision {
	case "allow":
		return "Allowed"
	case "deny":
		return "Denied"
	case "ask":
		return "Not allowed without an answer"
	}
	return ""
}

// Subject returns the command, the URL, the paths or the input of a call.
func Subject(e *audit.Entry) string {
	return cmp.Or(e.Command, e.URL, strings.Join(e.Paths, ", "), string(e.Input))
}

// Notable reports whether a call was denied, or decided by a person.
func Notable(e *audit.Entry) bool {
	return e.Answer != "" || e.Result == audit.Denied || e.Decision == "deny"
}
