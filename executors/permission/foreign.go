package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace/named"
)

// restrictForeign judges the files and commands that any string of a foreign tool's input may
// mean, by the rules that deny or ask. Commands also meet the rules of bash that deny.
func (p permissionCheck) restrictForeign(call *executors.Call, spell func(string) []string) verdict {
	total := verdict{action: Allow}
	rules := restricting(rulesFor(p.rules.Permissions, call.Tool))
	own := restricting(rulesFor(p.rules.repository, call.Tool))
	if len(rules)+len(own) > 0 {
		for _, file := range p.namesInRules(p.foreignFiles(call)) {
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
	for _, c := range named.Commands(call.Input) {
		dir := c.Dir
		if !filepath.IsAbs(dir) && len(dirs) > 0 {
			dir = filepath.Join(dirs[0], dir)
		}
		for _, one := range parse(c.Text, dir, p.Home).script.Commands {
			total = total.stronger(p.decideByCommandRules(call.Tool, one, verdict{action: Allow}))
			if v := p.decideByCommandRules("bash", one, verdict{action: Allow}); v.action == Deny {
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

// Limits on the files of an input that are looked up.
const (
	maxForeign  = 2048
	maxExpanded = 8 // paths with wildcards
)

// foreignFiles returns the files that an input may name, and where the existing ones lead. A
// directory ends in a separator in addition, so that rules for its contents match it.
func (p permissionCheck) foreignFiles(call *executors.Call) []string {
	all := named.Files(call.Input, named.Session{Dirs: p.Roots.Dirs(), Home: p.Home})
	t, expanded := follow.Trail{Lstat: p.stats.Lstat}, 0
	for i, path := range slices.Clone(all) {
		if i == maxForeign {
			break
		}
		if strings.ContainsAny(path, "*?[") && expanded < maxExpanded {
			expanded++
			all = append(all, named.Expand(path)...)
		}
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
	return all
}
