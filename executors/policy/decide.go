package policy

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// decision is what all sources together say of a call.
type decision struct {
	verdict
	// keys are what an "always" would be remembered by, and covers what it would
	// cover, in words.
	keys   []string
	covers string
}

// decide judges a call. Nothing is asked yet.
func (p *Permission) decide(call *executors.Call, tool executors.Tool) decision {
	var d decision
	switch {
	case call.Card.Command != "":
		d = p.decideCommand(call)
	case tool.Effect.ReadOnly():
		d = p.decideFiles(call, verdict{Allow, "default: read-only tools are allowed"})
	case mode(p.Mode()).readOnly:
		d.verdict = verdict{Deny, fmt.Sprintf("the mode %q only reads", p.Mode())}
		return d
	case tool.Effect.Has(executors.Network):
		d = p.decideFiles(call, verdict{Ask, "default: the network is asked about"})
	default:
		d = p.decideFiles(call, p.edits(call))
	}
	if len(call.Ask) > 0 {
		d.verdict = d.stronger(verdict{Ask, strings.Join(call.Ask, "; ")})
	}
	return d
}

// edits is the default for tools that change files.
func (p *Permission) edits(call *executors.Call) verdict {
	if mode(p.Mode()).edits && len(call.Card.Paths) > 0 {
		return verdict{Allow, fmt.Sprintf("the mode %q edits without asking", p.Mode())}
	}
	return verdict{Ask, "default: changes are asked about"}
}

// decideFiles judges a call of a tool that is not a shell, by the files that it
// touches and where no rule says anything by the default.
func (p *Permission) decideFiles(call *executors.Call, byDefault verdict) decision {
	d := decision{verdict: byDefault, keys: []string{"tool " + call.Tool}, covers: call.Tool + " inside this project"}
	spell := forPaths(p.Roots.Dirs(), p.Home)
	subjects := call.Card.Paths
	if len(subjects) == 0 {
		subjects = []string{string(call.Input)}
	}
	d.verdict = p.sources(call.Tool, subjects, spell, d.verdict)
	if d.action == Deny {
		return d
	}
	changes := byDefault.action != Allow || mode(p.Mode()).edits && call.Card.Kind != executors.KindRead && call.Card.Kind != executors.KindSearch
	if changes && slices.ContainsFunc(call.Card.Paths, p.sensitive) {
		// It decides what git and this agent do later, so no "always" covers it.
		d.verdict, d.keys = verdict{Ask, "default: .git and .zeph are always asked about"}, nil
	}
	return d
}

// sources judges subjects by the user's rules and by the repository's, and where
// no rule matches by other. Each subject is judged by itself.
func (p *Permission) sources(tool string, subjects []string, spell func(string) []string, other verdict) verdict {
	total := verdict{Allow, ""}
	for _, s := range subjects {
		v := other
		if r, ok := firstMatch(rules(p.Config.Permissions, tool), s, spell); ok {
			v = verdict{r.Action, fmt.Sprintf("rule %q of tools.permissions.%s", r.Pattern, tool)}
		}
		if r, ok := firstMatch(rules(p.Config.repository, tool), s, spell); ok {
			v = v.stronger(verdict{r.Action, fmt.Sprintf("rule %q of the project's .zeph/config.toml", r.Pattern)})
		}
		total = total.stronger(v)
		if total.why == "" {
			total.why = v.why
		}
	}
	return total
}

// sensitive reports whether a file decides what git or this agent do later.
func (p *Permission) sensitive(abs string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(abs), "/") {
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, ".zeph") {
			return true
		}
	}
	return false
}

// decideCommand judges each simple command by itself: the whole is allowed if
// all are, and denied if one is.
func (p *Permission) decideCommand(call *executors.Call) decision {
	card := call.Card
	src := parse(card.Command, card.Dir, p.Home)
	// A deny may also be meant for the whole line.
	d := decision{verdict: p.sources(call.Tool, []string{card.Command}, asWritten, verdict{Allow, ""})}
	if d.action != Deny {
		d.verdict = verdict{Allow, ""}
	}
	if src.err != nil {
		d.verdict = d.stronger(p.inMode(verdict{Ask, "it cannot be parsed"}))
		d.keys, d.covers = []string{"exactly " + card.Command}, "exactly this command"
		return d
	}
	var covers []string
	for _, c := range src.script.Commands {
		v := p.segment(call.Tool, c, src)
		if v.action == Ask {
			key, cover := remembered(c, src)
			d.keys = append(d.keys, key)
			if !slices.Contains(covers, cover) {
				covers = append(covers, cover)
			}
		}
		d.verdict = d.stronger(v)
		if d.why == "" {
			d.why = v.why
		}
	}
	d.covers = strings.Join(covers, ", ")
	if v := p.writes(src.script); v.action != "" {
		d.verdict = d.stronger(p.inMode(v))
		d.keys = nil // which file it is differs from call to call
	}
	if d.action == Allow && len(src.script.Commands) == 0 { // only assignments, or nothing
		d.why = "default: it runs nothing"
	}
	return d
}

// inMode turns an ask into a deny where the mode only reads.
func (p *Permission) inMode(v verdict) verdict {
	if v.action == Ask && mode(p.Mode()).readOnly {
		return verdict{Deny, fmt.Sprintf("the mode %q runs only commands that are known to read (%s)", p.Mode(), v.why)}
	}
	return v
}

// segment judges one simple command.
func (p *Permission) segment(tool string, c *command.Command, src parsed) verdict {
	reads := c.ReadOnly() && plainVariables(src.script.Assigns) && (c.Program() != "git" || gitRunsNothing(c.Dirs))
	other := verdict{Ask, "default: it is not known to only read"}
	switch {
	case reads:
		other = verdict{Allow, "default: it only reads"}
	case neutral(c):
		other = verdict{Allow, "default: what it runs is judged by itself"}
	}
	v := p.sources(tool, []string{c.Text()}, asWritten, other)
	if v.action == Allow && !reads {
		switch {
		case slices.Contains(downloads, c.Program()) && !slices.ContainsFunc(p.Shell.AllowedCommands, func(a string) bool { return startsWith(c, a) }):
			v = verdict{Ask, "default: downloads are always asked about"}
		case !plainVariables(c.Assigns) || !plainVariables(src.script.Assigns):
			v = verdict{Ask, "default: it sets variables that can change what is run"}
		}
	}
	if v.action == Allow && !reads && !neutral(c) && mode(p.Mode()).readOnly {
		return verdict{Deny, fmt.Sprintf("the mode %q runs only commands that are known to read", p.Mode())}
	}
	return p.inMode(v)
}

// neutral reports whether a command does nothing but run another that is judged
// by itself.
func neutral(c *command.Command) bool {
	if !c.Wraps {
		return false
	}
	p := c.Program()
	return command.IsShell(p) || slices.Contains([]string{"builtin", "command", "env", "eval", "ionice", "nice", "nohup", "stdbuf", "time", "timeout"}, p)
}

// writes judges the files that redirections write and that commands name: asked
// about are files in .git and .zeph, and what is written by commands that would
// otherwise only read.
func (p *Permission) writes(s *command.Script) verdict {
	onlyReads := !slices.ContainsFunc(s.Commands, func(c *command.Command) bool { return !c.ReadOnly() && !c.Wraps })
	for _, r := range s.Redirects {
		for _, abs := range r.Path().Abs {
			switch {
			case !r.Write || harmless(abs):
			case p.sensitive(abs):
				return verdict{Ask, "default: .git and .zeph are always asked about"}
			case onlyReads:
				return verdict{Ask, "default: it writes " + r.Target.Text}
			}
		}
	}
	for _, c := range s.Commands {
		if c.ReadOnly() {
			continue
		}
		for _, f := range c.Paths() {
			if slices.ContainsFunc(f.Abs, p.sensitive) {
				return verdict{Ask, "default: .git and .zeph are always asked about"}
			}
		}
	}
	return verdict{}
}

// harmlessVariables are those that change how a program prints or builds, not
// what is run.
var harmlessVariables = []string{
	"CGO_ENABLED", "CI", "COLUMNS", "DEBUG", "FORCE_COLOR", "GOARCH", "GOOS", "LANG", "LC_ALL", "LC_CTYPE", "LINES", "NODE_ENV", "NO_COLOR", "PORT",
	"RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ", "VERBOSE",
}

// plainVariables reports whether setting the variables leaves what is run as it
// is. Names in lower case are the script's own.
func plainVariables(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		own := n == strings.ToLower(n) && !strings.HasSuffix(n, "_proxy")
		return !own && !slices.Contains(harmlessVariables, n)
	})
}

// remembered gives what an "always" for this command is remembered by, and what
// it covers in words: the program and its first operand, a download's hosts, or
// the exact text where the command is a program itself.
func remembered(c *command.Command, src parsed) (key, covers string) {
	program := c.Words[0].Text
	exact := "exactly " + quote(c.Text())
	if c.Program() == "" || len(c.Assigns) > 0 {
		return "exactly " + src.text, exact
	}
	if slices.Contains(downloads, c.Program()) {
		hosts, ok := hostsOf(c)
		if !ok {
			return "exactly " + src.text, exact
		}
		return "host " + strings.Join(hosts, " "), c.Program() + " to " + strings.Join(hosts, ", ")
	}
	first, ok := firstOperand(c)
	if runsText(c) && (!ok || hasCode(c)) {
		return "exactly " + src.text, exact
	}
	if ok {
		program += " " + first
	}
	return "command " + program, quote(program)
}

// hasCode reports whether an interpreter is given its program as text.
func hasCode(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool {
		return w.Text == "--eval" || w.Text == "--print" || !w.Literal || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "cerEp")
	})
}

func firstOperand(c *command.Command) (string, bool) {
	for _, w := range c.Args() {
		if w.Literal && !strings.HasPrefix(w.Text, "-") {
			return w.Text, true
		}
	}
	return "", false
}

// hostsOf gives the hosts that a download names, sorted; false if one is not
// known.
func hostsOf(c *command.Command) ([]string, bool) {
	var hosts []string
	for _, w := range c.Args() {
		switch {
		case !w.Literal || w.Glob || strings.ContainsAny(w.Text, "{}[]"):
			return nil, false
		case slices.Contains([]string{"-K", "--config", "-x", "--proxy", "--connect-to", "--resolve", "-i", "--input-file"}, w.Text):
			return nil, false
		case strings.Contains(w.Text, "://"):
			text := w.Text
			if strings.HasPrefix(text, "-") {
				_, text, _ = strings.Cut(text, "=")
			}
			u, err := url.Parse(text)
			if err != nil || u.Hostname() == "" {
				return nil, false
			}
			hosts = append(hosts, strings.ToLower(u.Hostname()))
		}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	return hosts, len(hosts) > 0
}
