package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// decision is the verdict of all sources on a call.
type decision struct {
	verdict
	// keys are the names under which an "always" is remembered. extent describes to the
	// user which calls it covers.
	keys   []string
	extent string
	// dismissed reports that the user closed the question without an answer.
	dismissed bool
	// unanswered is the reason why a question got no usable answer. It begins with a colon.
	// Empty means that no question was sent.
	unanswered string
	// plain is the form in which an allowed command runs. Nil means that it
	// runs as written, because the user allowed it.
	plain *executors.Plain
}

// decide checks a call without asking the user.
func (p permissionCheck) decide(call *executors.Call, tool executors.Tool) decision {
	p.stats, p.links = &workspace.StatCache{}, new(map[string]string)
	var d decision
	switch {
	case call.Card.Command() != "":
		d = p.decideCommand(call)
	case call.Card.URL != "" && onlyReadsNetwork(tool.Effect):
		d = p.decideWeb(call)
	case tool.Effect.ReadOnly():
		d = p.decideFiles(call, verdict{action: Allow, why: "default: read-only tools are allowed"})
	case tool.Effect.InternalOnly():
		d = p.decideFiles(call, internalDefault(call))
	case mode(p.Mode()).readOnly && !onlyReadsNetwork(tool.Effect):
		d.verdict = verdict{action: Deny, byMode: true, why: fmt.Sprintf("the mode %q only reads", p.Mode())}
		return d
	case tool.Effect.Has(executors.Network):
		d = p.decideFiles(call, verdict{action: Ask, why: "default: network access needs permission"})
	default:
		d = p.decideFiles(call, p.editDefault(call))
	}
	if len(call.Ask) > 0 {
		d.verdict = d.stronger(verdict{action: Ask, why: strings.Join(call.Ask, "; ")})
	}
	return d
}

// internalDefault is the default for tools that only change the session's own state.
func internalDefault(call *executors.Call) verdict {
	if call.Card.Deferred {
		return verdict{action: Ask, why: "default: it has effects beyond this session, so it needs approval now"}
	}
	return verdict{action: Allow, why: "default: it only changes the session's own state"}
}

// editDefault is the default for tools that change files.
func (p permissionCheck) editDefault(call *executors.Call) verdict {
	switch {
	case call.Card.Kind == executors.KindDelete:
		return verdict{action: Ask, why: "default: deletions need permission in every mode"}
	case mode(p.Mode()).editsUnasked && len(call.Card.Paths) > 0:
		return verdict{action: Allow, byMode: true, why: fmt.Sprintf("the mode %q edits without asking", p.Mode())}
	}
	return verdict{action: Ask, why: "default: changes need permission"}
}

// decideFiles checks a call of a tool other than a shell, by the files that it
// touches. If no rule matches, byDefault applies.
func (p permissionCheck) decideFiles(call *executors.Call, byDefault verdict) decision {
	d := decision{verdict: byDefault, keys: []string{"tool " + call.Tool}, extent: call.Tool + " inside this project"}
	if server := call.Card.Server; server != "" {
		d.keys, d.extent = []string{"tool " + call.Tool + " of " + server}, call.Tool+" of the MCP server "+server
	}
	spell := forPaths(p.namesInRules(p.Roots.Dirs()), p.Home)
	subjects := p.namesInRules(call.Card.Paths)
	if len(subjects) == 0 {
		subjects = p.namesInRules([]string{string(plainjson.Canonical(call.Input))})
	}
	d.verdict = p.decideByRules(call.Tool, subjects, spell, d.verdict)
	if call.Server() != "" {
		d.verdict = d.stronger(p.restrictForeign(call, spell))
	}
	if d.action == Deny {
		return d
	}
	reads := call.Card.Kind == executors.KindRead || call.Card.Kind == executors.KindSearch
	changes := byDefault.action != Allow || mode(p.Mode()).editsUnasked && !reads
	if changes {
		why := p.steeredByCall(call, func(file string) string {
			r, _ := firstMatch(rulesFor(p.rules.Permissions, call.Tool), p.namesInRules([]string{file})[0], spell)
			return r.Pattern
		})
		if why != "" { // these files act later, so no "always" covers them
			d.verdict, d.keys = verdict{action: Ask, why: why}, nil
		}
	}
	if call.Card.Kind == executors.KindDelete || call.Card.Deferred {
		d.keys = nil // ask each time, unless a rule decides: the change cannot be undone, or acts unwatched
	}
	return d
}

// decideByRules checks each subject by the rules of the user and of the repository.
// If no rule matches, byDefault applies. A deny for the equivalent tool also counts.
func (p permissionCheck) decideByRules(tool string, subjects []string, spell func(string) []string, byDefault verdict) verdict {
	v := p.decideByRulesOf(tool, subjects, spell, byDefault)
	if as, ok := p.shows[tool]; ok {
		if denied := p.decideByRulesOf(as, subjects, spell, verdict{action: Allow}); denied.action == Deny {
			v = v.stronger(denied)
		}
	}
	return v
}

// decideByRulesOf is decideByRules by the rules of one tool alone.
func (p permissionCheck) decideByRulesOf(tool string, subjects []string, spell func(string) []string, byDefault verdict) verdict {
	total := verdict{action: Allow, why: ""}
	for _, s := range subjects {
		v := byDefault
		if r, ok := firstMatch(rulesFor(p.rules.Permissions, tool), s, spell); ok {
			v = r.userVerdict(tool)
		}
		if r, ok := firstMatch(rulesFor(p.rules.repository, tool), s, spell); ok {
			v = v.stronger(r.repositoryVerdict())
		}
		total = total.stronger(v)
		if total.why == "" {
			total = v
		}
	}
	return total
}

// decideCommand checks each simple command on its own. The script is allowed if
// all commands are, and denied if one is.
func (p permissionCheck) decideCommand(call *executors.Call) decision {
	card := call.Card
	script := card.Script
	// A deny may also match the whole line.
	d := decision{verdict: p.decideByRules(call.Tool, p.namesInRules([]string{card.Command()}), asWritten, verdict{action: Allow, why: ""})}
	if d.action != Deny {
		d.verdict = verdict{action: Allow, why: ""}
	}
	if script.Err != nil {
		for _, c := range script.Commands {
			d.verdict = d.stronger(p.decideSimpleCommand(call.Tool, c, script, false))
		}
		if d.action == Deny {
			return d
		}
		d.verdict = d.stronger(p.denyIfReadOnly(verdict{action: Ask, why: "it cannot be parsed"}))
		d.keys, d.extent = []string{"exactly " + card.Command()}, "exactly this command"
		return d
	}
	form, notPlain := p.plainForm(call, script, nil)
	onlyReads := notPlain == nil && form.ReadOnly
	var covers []string
	neverRemember := false                    // a part of the script needs permission each time
	allowedByRule := false                    // d.why names a rule
	rulesAllowAll := len(script.Commands) > 0 // a rule allows every command of the script
	for _, c := range script.Commands {
		v := p.decideSimpleCommand(call.Tool, c, script, onlyReads)
		rulesAllowAll = rulesAllowAll && (c.Guess || v.pattern != "" && strings.Trim(v.pattern, "*") == "")
		if v.action == Ask {
			key, cover := alwaysKey(c, script)
			neverRemember = neverRemember || key == ""
			d.keys = append(d.keys, key)
			if !slices.Contains(covers, cover) {
				covers = append(covers, cover)
			}
		}
		d.verdict = d.stronger(v)
		if byRule := v.pattern != ""; d.action == Allow && (d.why == "" || byRule && !allowedByRule) {
			d.verdict, allowedByRule = v, byRule // a rule says more than a default
		}
	}
	d.extent = strings.Join(covers, ", ")
	if v := p.decideWrites(call.Tool, script, notPlain == nil || rulesAllowAll); v.action != "" && !onlyReads {
		d.verdict = d.stronger(p.denyIfReadOnly(v))
		neverRemember = true // the file differs from call to call
	}
	if neverRemember {
		d.keys = nil
	}
	if d.action == Allow && len(script.Commands) == 0 { // only assignments, or nothing
		d.verdict = verdict{action: Allow, why: "default: it runs nothing"}
	}
	switch {
	case d.action != Allow:
	case notPlain == nil:
		d.plain = form
	case rulesAllowAll && (!p.NoBash || script.SameInSh()): // the user's rules allow every command, so none needs a plain form
	default:
		d.verdict = p.denyIfReadOnly(verdict{action: Ask, why: "default: " + notPlain.Error()})
		d.keys, d.extent = []string{"exactly " + card.Command()}, "exactly this command"
	}
	return d
}

// denyIfReadOnly turns an ask into a deny in a read-only mode.
func (p permissionCheck) denyIfReadOnly(v verdict) verdict {
	if v.action == Ask && mode(p.Mode()).readOnly {
		return verdict{action: Deny, byMode: true, why: fmt.Sprintf("the mode %q runs only commands that are known to be read-only (%s)", p.Mode(), v.why)}
	}
	return v
}

// decideSimpleCommand checks one simple command. onlyReads means that the plain form of the
// whole script only reads.
func (p permissionCheck) decideSimpleCommand(tool string, c *command.Command, script *command.Script, onlyReads bool) verdict {
	if c.Guess { // a guess can only lead to a deny
		if v := p.decideByCommandRules(tool, c, verdict{action: Allow, why: ""}); v.action == Deny {
			return v
		}
		return verdict{action: Allow, why: ""}
	}
	reads := onlyReads || c.ReadOnly() && !steers(c, script)
	byDefault := verdict{action: Ask, why: "default: it is not known to be read-only"}
	switch {
	case reads:
		byDefault = verdict{action: Allow, why: "default: it only reads"}
	case onlyWraps(c):
		byDefault = verdict{action: Allow, why: "default: the command that it runs is checked on its own"}
	}
	v := p.decideByCommandRules(tool, c, byDefault)
	if v.action == Allow && !reads {
		_, open := c.Subcommand()
		switch {
		case slices.Contains(downloaders, c.Program()) && !startsWithAny(c, p.shell.AllowedCommands):
			v = verdict{action: Ask, why: "default: downloads always need permission"}
		case confirms(c, v.pattern) != "":
			v = verdict{action: Ask, why: fmt.Sprintf("default: %s, which rule %q does not name", confirms(c, v.pattern), v.pattern)}
		case runsNameWithSpace(c) && strings.Trim(v.pattern, "*") != "":
			v = verdict{action: Ask, why: "default: the name of the file that it runs contains a space"}
		case open && !onlyWraps(c):
			v = verdict{action: Ask, why: "default: parts of it are computed at run time"}
		case !plainVariables(c, script):
			v = verdict{action: Ask, why: "default: it sets variables that can change which program runs"}
		}
	}
	if v.action == Allow && !reads && !onlyWraps(c) && mode(p.Mode()).readOnly {
		return verdict{action: Deny, byMode: true, why: fmt.Sprintf("the mode %q runs only commands that are known to be read-only", p.Mode())}
	}
	return p.denyIfReadOnly(v)
}

// runsNameWithSpace reports whether the name of the program or script that a command runs contains
// a space. The program "make /x" is written like "make" with an argument.
func runsNameWithSpace(c *command.Command) bool {
	space := func(s string) bool { return strings.ContainsAny(s, " \t\n") }
	first, _ := c.Subcommand()
	return len(c.Words) > 0 && space(c.Words[0].Text) || runsText(c) && !hasCode(c) && space(first)
}

// decideByCommandRules checks a command by the rules of the user and of the repository.
// If no rule matches, byDefault applies.
func (p permissionCheck) decideByCommandRules(tool string, c *command.Command, byDefault verdict) verdict {
	v := byDefault
	if r, ok := firstCommandMatch(rulesFor(p.rules.Permissions, tool), c, p.namesInRules); ok {
		v = r.userVerdict(tool)
	}
	if r, ok := firstCommandMatch(rulesFor(p.rules.repository, tool), c, p.namesInRules); ok {
		v = v.stronger(r.repositoryVerdict())
	}
	return v
}

// firstCommandMatch returns the first rule that matches a simple command. A rule
// that allows must match the command as written, which is the first of its forms. Any
// other rule also matches the expanded forms, and from every later word on. named replaces
// paths by the names that rules use.
func firstCommandMatch(list []Rule, c *command.Command, named func([]string) []string) (Rule, bool) {
	if len(list) == 0 {
		return Rule{}, false
	}
	forms, words := named(c.Forms()), named(c.WordForms())
	for _, r := range list {
		if _, ok := firstMatch([]Rule{r}, forms[0], asWritten); ok {
			return r, true
		}
		if r.Action == Allow {
			continue
		}
		again, err := wildcard.CompileWords(r.Pattern)
		if err != nil || slices.ContainsFunc(words, again.MatchString) {
			return r, true
		}
		if slices.ContainsFunc(forms[1:], func(text string) bool { _, ok := firstMatch([]Rule{r}, text, asWritten); return ok }) {
			return r, true
		}
	}
	return Rule{}, false
}

// onlyWraps reports whether a command only runs another command, which is checked
// on its own.
func onlyWraps(c *command.Command) bool {
	if !c.Wraps {
		return false
	}
	// Two kinds are excluded. Shells other than bash parse a script differently
	// than this package does. nohup and time write files.
	if c.Program() == "bash" {
		return len(c.Words) > 1 && slices.Contains([]string{"-c", "-ec", "-lc"}, c.Words[1].Text)
	}
	return slices.Contains([]string{"builtin", "command", "env", "eval", "ionice", "nice", "stdbuf", "timeout"}, c.Program())
}

// decideWrites checks the files that redirections write and that commands name. Two kinds need
// permission: files that steer programs or agents, and files that an otherwise read-only command
// writes. allowed means that rules allow each command that writes.
func (p permissionCheck) decideWrites(tool string, s *command.Script, allowed bool) verdict {
	onlyReads := !allowed && !slices.ContainsFunc(s.Commands, func(c *command.Command) bool { return !c.ReadOnly() && !c.Wraps })
	t := follow.Trail{Lstat: p.stats.Lstat}
	for _, r := range s.Redirects {
		if r.Target.Literal && harmlessDevice(r.Target.Text) {
			continue
		}
		for _, place := range p.placesOf(r.Path(), &t) {
			switch {
			case !r.Write || harmlessDevice(place):
			case p.steeredFile(place, false, "") != "":
				return verdict{action: Ask, why: p.steeredFile(place, false, "")}
			case onlyReads:
				return verdict{action: Ask, why: "default: it writes " + r.Target.Text}
			}
		}
	}
	for _, c := range s.Commands {
		if c.ReadOnly() { // its plain form lists the files
			continue
		}
		r, _ := firstCommandMatch(rulesFor(p.rules.Permissions, tool), c, p.namesInRules)
		if why := p.steeredByCommand(c, r.Pattern, &t); why != "" {
			return verdict{action: Ask, why: why}
		}
	}
	return verdict{}
}
