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
	text := byWhom(e)
	switch {
	case text == "":
		return e.Rule
	case e.Rule == "" || strings.Contains(text, "("+e.Rule+")") || e.Answer != "" && strings.HasPrefix(e.Rule, "the user "):
		return text
	}
	return text + ": " + e.Rule
}

func byWhom(e *audit.Entry) string {
	if e.Answer != "" {
		return cmp.Or(answers[e.Answer], "The user answered "+e.Answer)
	}
	for _, v := range e.Gates {
		if v.Decision == executors.Deny {
			return "Denied by the gate " + v.Gate + because(v)
		}
	}
	return decisions[e.Decision]
}

func because(v executors.Verdict) string {
	if why := cmp.Or(v.Reason, v.Rule); why != "" {
		return " (" + why + ")"
	}
	return ""
}

// answers are those to the questions of the permission link.
var answers = map[string]string{
	"allow_once": "The user allowed it once", "allow_always": "The user allowed it for good",
	"reject_once": "The user rejected it", "reject_always": "The user rejected it for good",
	"dismissed": "The user dismissed the question",
}

var decisions = map[string]string{
	"allow": "Allowed", "deny": "Denied", "ask": "Not allowed without an answer",
}

// Notable reports whether a call was denied, or decided by a person.
func Notable(e *audit.Entry) bool {
	return e.Answer != "" || e.Result == audit.Denied || e.Decision == "deny"
}
