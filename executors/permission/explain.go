package permission

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// sessionMode is the source of a verdict that depends on the mode.
const sessionMode = "the session's mode"

// onRecord returns the verdict of the permission link about a tool for the decision record.
func (v verdict) onRecord(tool string) executors.Verdict {
	out := executors.Verdict{Gate: executors.PermissionGate, Decision: v.action, Rule: v.why, Source: executors.BuiltIn}
	switch {
	case v.pattern != "":
		out.Source = cmp.Or(v.position, v.key)
		out.Change = "that rule of " + v.key
		if v.key != projectFile {
			out.Change = "that rule, or another one above it: the first rule of " + v.key + " that matches decides"
		}
	case v.byMode && v.action == Deny:
		out.Source, out.Change = sessionMode, "the command /mode"
	case v.byMode:
		out.Source, out.Change = sessionMode, "the command /mode: in the mode code you are asked"
	case v.action == Allow:
		out.Change = "a rule of tools.permissions." + tool + " that asks or denies"
	}
	return out
}

// question returns the verdict about a call that needs an answer.
func (p permissionCheck) question(call *executors.Call, tool executors.Tool, d decision) executors.Verdict {
	v := d.onRecord(call.Tool)
	v.Reason, v.Change = p.olderAnswer(d.keys), p.changeOfQuestion(call, tool, d)
	return v
}

// maxPatterns bounds the patterns in advice, in bytes.
const maxPatterns = 300

// asksEachTime is what changes a question that no answer settles.
const asksEachTime = "nothing: no rule and no \"always\" answers it, so you are asked each time"

// changeOfQuestion says how the user can avoid the question about a call.
func (p permissionCheck) changeOfQuestion(call *executors.Call, tool executors.Tool, d decision) string {
	if len(call.Ask) > 0 {
		return "" // the gates that ask say it
	}
	var ways []string
	if len(d.keys) > 0 {
		ways = append(ways, `the answer "always"`)
	}
	list := "tools.permissions." + call.Tool
	patterns, first := p.allowingPatterns(call, tool)
	if len(patterns) > 0 {
		allowed := "it" // the card shows the file or page
		if call.Card.Command() != "" {
			allowed = line.Truncate(strings.Join(patterns, ", "), maxPatterns)
		}
		rule := fmt.Sprintf("a rule of %s that allows %s", list, allowed)
		if first {
			rule += ", above the other rules"
		}
		ways = append(ways, rule)
	}
	if p.editDefault(call).action == Ask && len(call.Card.Paths) > 0 && call.Card.Kind == executors.KindEdit && d.keys != nil {
		ways = append(ways, "the command /mode auto")
	}
	if len(ways) == 0 {
		return asksEachTime
	}
	return strings.Join(ways, ", or ")
}

// changeOfAnswer says how the user takes back an "always" for these keys.
func changeOfAnswer(keys []string) string {
	_, covers, _ := strings.Cut(keys[0], " ")
	return fmt.Sprintf("zeph-acp permissions forget '%s'", strings.ReplaceAll(covers, "'", `'\''`))
}

// record records the verdict about a call, or about its further card about; none if the guard has
// no objection.
func (g *Guard) record(call *executors.Call, about string, blocked *executors.Failure, ask []string) {
	v := executors.Verdict{
		Gate: executors.GuardGate, Decision: Ask, Reason: strings.Join(ask, "; "), About: about, Source: executors.BuiltIn,
		Change: asksEachTime,
	}
	text := v.Reason
	switch {
	case blocked != nil:
		v.Decision, v.Reason, text = Deny, blocked.Message, cmp.Or(blocked.UserText, blocked.Message)
		v.Change = "nothing: no rule and no answer can allow it"
	case len(ask) == 0:
		return
	}
	if all := settingName.FindAllString(text, -1); len(all) > 0 {
		v.Source = strings.NewReplacer("[tools.file] ", "tools.file.", "(confirm_patterns", "tools.shell.confirm_patterns").Replace(all[len(all)-1])
		v.Change = "the key " + v.Source
	}
	call.Record.Add(v)
}

// settingName matches the key of a setting in a reason of the guard.
var settingName = lazyregexp.New(`tools\.shell\.(allow_network|(allowed|blocked)_commands|allowed_paths|outside_paths)\b|tools\.file\.allowed_paths\b|` +
	`\[tools\.file\] (allow|deny)_read\b|\(confirm_patterns`)
