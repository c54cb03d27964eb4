package permission

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Tools omits tools for which the rules deny every call. It keeps tools that only
// the mode denies: the mode can change at any time, a denial names it, and a
// stable list of tools keeps the provider's cache valid.
func (p permissionLink) Tools() []executors.Tool {
	return p.shownTools(p.Policy.Load())
}

func (p permissionLink) shownTools(policy *ShellPolicy) []executors.Tool {
	all := p.next.Tools()
	if !policy.hidesTools {
		return all
	}
	shown := make([]executors.Tool, 0, len(all))
	for _, t := range all {
		if !policy.hides(t.Name) {
			shown = append(shown, t)
		}
	}
	return shown
}

// Hidden returns the verdict of the rule that denies every call of a tool; false if there is no
// such rule. The tool is then not offered.
func (p *ShellPolicy) Hidden(tool string) (executors.Verdict, bool) {
	if !p.hidesTools {
		return executors.Verdict{}, false
	}
	for _, name := range []string{tool, p.shows[tool]} {
		if r, ok := denyingAll(rulesFor(p.rules.Permissions, name)); ok && name != "" {
			return r.userVerdict(name).onRecord(name), true
		}
		if r, ok := denyingAll(rulesFor(p.rules.repository, name)); ok && name != "" {
			return r.repositoryVerdict().onRecord(name), true
		}
	}
	return executors.Verdict{}, false
}

// hides reports whether the rules deny every call of a tool.
func (p *ShellPolicy) hides(tool string) bool {
	_, hidden := p.Hidden(tool)
	return hidden
}

// denyingAll returns the rule that denies every call, if no rule before it allows or
// asks.
func denyingAll(rules []Rule) (Rule, bool) {
	for _, r := range rules {
		if r.Action != Deny {
			return Rule{}, false
		}
		if r.deniesAll() {
			return r, true
		}
	}
	return Rule{}, false
}

// deniesAll reports whether the rule denies every call that it is applied to.
func (r Rule) deniesAll() bool { return r.Action == Deny && strings.Trim(r.Pattern, "*") == "" }
