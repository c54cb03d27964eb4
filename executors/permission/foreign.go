package permission

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace/named"
)

// restrictForeign checks the files and commands that any string of a foreign tool's input may
// mean, by the rules that deny or ask. Commands also meet the rules of bash that deny.
func (p permissionCheck) restrictForeign(call *executors.Call, spell func(string) []string) verdict {
	total := verdict{action: Allow}
	rules := restricting(rulesFor(p.rules.Permissions, call.Tool))
	own := restricting(rulesFor(p.rules.repository, call.Tool))
	if len(rules)+len(own) > 0 {
		files, complete := p.foreignFiles(call)
		if !complete {
			total = tooLarge
		}
		for _, file := range p.namesInRules(files) {
			if r, ok := firstMatch(rules, file, spell); ok {
				total = total.stronger(r.userVerdict(call.Tool))
			}
			if r, ok := firstMatch(own, file, spell); ok {
				total = total.stronger(r.repositoryVerdict())
			}
			if total.action == Deny {
				return total
			}
		}
	}
	dirs := p.Roots.Dirs()
	commands, complete := named.Commands(call.Input)
	if !complete && slices.ContainsFunc(slices.Concat(rules, own, p.rules.Permissions[p.shellTool], p.rules.repository[p.shellTool]), func(r Rule) bool { return r.Action == Deny }) {
		total = total.stronger(tooLarge)
	}
	for _, c := range commands {
		dir := c.Dir
		if !filepath.IsAbs(dir) && len(dirs) > 0 {
			dir = filepath.Join(dirs[0], dir)
		}
		for _, one := range command.Parse(c.Text, command.Shell{Dir: dir, Home: p.Home}).Commands {
			total = total.stronger(p.decideByCommandRules(call.Tool, one, verdict{action: Allow}))
			if v := p.decideByCommandRules(p.shellTool, one, verdict{action: Allow}); v.action == Deny {
				total = total.stronger(v)
			}
		}
	}
	if total.action == Allow {
		return verdict{}
	}
	return total
}

// restricting returns the rules that deny or ask.
func restricting(list []Rule) []Rule {
	return slices.DeleteFunc(slices.Clone(list), func(r Rule) bool { return r.Action == Allow })
}

// tooLarge is the verdict on an input that cannot be searched as a whole, if a rule might refuse a
// part of it.
var tooLarge = verdict{action: Ask, why: "default: its input is too large to be searched for what rules refuse"}

// foreignFiles returns the files that an input may name, and where the existing ones lead. A
// directory ends in a separator in addition, so that rules for its contents match it. complete is
// false if there may be more.
func (p permissionCheck) foreignFiles(call *executors.Call) (all []string, complete bool) {
	files := named.Find(call.Input, named.Session{Dirs: p.Roots.Dirs(), Home: p.Home})
	files.Expand()
	all = files.Paths
	t := follow.Trail{Lstat: p.stats.Lstat}
	for _, path := range files.Paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		places, _ := follow.Path(path, &t)
		all = append(all, places...)
		if info.IsDir() {
			all = append(all, path+string(filepath.Separator))
		}
	}
	return all, !files.Incomplete
}
