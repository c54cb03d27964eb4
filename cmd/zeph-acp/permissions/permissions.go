// Package permissions translates the permission rules of other agents into rules of
// the configuration: [Claude] the settings of Claude Code, and [Gemini] the policies of
// Gemini CLI.
//
// It promises that nothing becomes looser. A rule that denies or asks may cover more than the
// original. A rule that allows covers the same calls or fewer. It is left out if that is
// impossible, or if a stricter rule about the same tool could not be translated. Each rule that is
// left out is in [Import.Untranslated] with a reason.
//
// Why are allow rules of a project left out? The configuration applies to all projects,
// so such a rule would allow calls in others. [Import.DropAllows] removes them.
package permissions

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission"
)

// Import is the translation of a file.
type Import struct {
	// Rules are in the order in which the configuration must have them.
	Rules []Rule
	// DenyRead are patterns of tools.file.deny_read.
	DenyRead     []string
	Untranslated []Untranslated

	restricted []string // the tools that an untranslated rule restricts; "*" stands for all
}

// Rule is a rule of [[tools.permissions.TOOL]].
type Rule struct {
	Tool string // its key, which may have wildcards
	permission.Rule
	source string
}

// Untranslated is a rule that was not translated.
type Untranslated struct {
	Rule   string // as the file has it
	Reason string
}

// add adds a rule for each pattern.
func (i *Import) add(source string, action executors.Decision, tool string, patterns ...string) {
	for _, p := range patterns {
		r := Rule{Tool: tool, Rule: permission.Rule{Pattern: p, Action: action}, source: source}
		if !slices.ContainsFunc(i.Rules, func(o Rule) bool { return o.Tool == tool && o.Pattern == p && o.Action == action }) {
			i.Rules = append(i.Rules, r)
		}
	}
}

// namesOf returns the sorted names of the tools that fit.
func namesOf(tools []executors.Tool, fits func(executors.Tool) bool) []string {
	return slices.Sorted(slices.Values(executors.NamesOf(tools, fits)))
}

// addAll adds a rule for each tool and pattern.
func (i *Import) addAll(source string, action executors.Decision, tools []string, patterns ...string) {
	for _, t := range tools {
		i.add(source, action, t, patterns...)
	}
}

// leaveOut records a rule that cannot be translated.
func (i *Import) leaveOut(source, format string, args ...any) {
	l := Untranslated{source, fmt.Sprintf(format, args...)}
	if !slices.Contains(i.Untranslated, l) {
		i.Untranslated = append(i.Untranslated, l)
	}
}

// tighten leaves out the rules that allow calls of a tool which a stricter rule covers
// that could not be translated.
func (i *Import) tighten() {
	i.dropAllows("a stricter rule about the same tool was not translated", func(r Rule) bool {
		return slices.ContainsFunc(i.restricted, func(t string) bool {
			return t == "*" || t == r.Tool || covers(t, r.Tool) || covers(r.Tool, t)
		})
	})
	i.dropAllows("a stricter rule covers all of these tools, and would come later", func(r Rule) bool {
		return slices.ContainsFunc(i.Rules, func(o Rule) bool {
			return o.Action != executors.Allow && o.Tool != r.Tool && covers(o.Tool, r.Tool)
		})
	})
}

// DropAllows removes the rules that allow calls, for a file that belongs to one project.
func (i *Import) DropAllows() {
	i.dropAllows("it belongs to one project, and the configuration applies to all", func(Rule) bool { return true })
}

// dropAllows leaves out the rules that allow and that match.
func (i *Import) dropAllows(reason string, match func(Rule) bool) {
	var kept []Rule
	for _, r := range i.Rules {
		if r.Action == executors.Allow && match(r) {
			i.leaveOut(r.source, "%s", reason)
			continue
		}
		kept = append(kept, r)
	}
	i.Rules = kept
}

// covers reports whether the key of a rule, which has wildcards, covers a tool.
func covers(key, tool string) bool {
	if !strings.Contains(key, "*") {
		return false
	}
	ok, _ := path.Match(key, tool) // a malformed key matches no tool in the configuration either
	return ok
}

// finish orders the rules so that the strictest that matches is the first, and leaves out
// those that would be looser.
func (i *Import) finish() *Import {
	rank := map[executors.Decision]int{executors.Deny: 0, executors.Ask: 1, executors.Allow: 2}
	slices.SortStableFunc(i.Rules, func(a, b Rule) int { return cmp.Compare(rank[a.Action], rank[b.Action]) })
	i.tighten()
	return i
}

// Merge returns the translation of several files together. The strictest rule that
// matches decides, whichever file has it.
func Merge(files []*Import) *Import {
	all := &Import{}
	for _, i := range files {
		all.Rules, all.DenyRead = append(all.Rules, i.Rules...), append(all.DenyRead, i.DenyRead...)
		all.Untranslated, all.restricted = append(all.Untranslated, i.Untranslated...), append(all.restricted, i.restricted...)
	}
	if len(files) > 1 {
		all.finish()
	}
	return all
}

// Text returns the rules as TOML.
func (i *Import) Text() string {
	var b strings.Builder
	source := ""
	for _, r := range i.Rules {
		b.WriteByte('\n')
		if r.source != source {
			source = r.source
			fmt.Fprintf(&b, "# %s\n", comment(source))
		}
		fmt.Fprintf(&b, "[[tools.permissions.%s]]\n", toml.FormatKey(r.Tool))
		fmt.Fprintf(&b, "pattern = %s\naction = %q\n", executors.TOMLString(r.Pattern), string(r.Action))
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// List returns an array of strings as TOML.
func List(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = executors.TOMLString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// comment returns a text for a comment of TOML.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// literal escapes a text so that a pattern matches nothing else.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")
