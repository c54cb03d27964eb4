package permission

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// suggestRules returns the rules that would allow the call, as TOML for the
// user's config.toml. first means that they belong above the tool's other
// rules, because one of those would match first. The text is empty if no rule
// can allow the call.
func (p permissionCheck) suggestRules(call *executors.Call, tool executors.Tool) (text string, first bool) {
	patterns, first := p.allowingPatterns(call, tool)
	var blocks []string
	for _, pattern := range patterns {
		blocks = append(blocks, fmt.Sprintf("[[tools.permissions.%s]]\npattern = %s\naction = \"allow\"", tomlKey(call.Tool), pattern))
	}
	return strings.Join(blocks, "\n\n"), first
}

// allowingPatterns returns the patterns of the rules that [permissionCheck.suggestRules] suggests,
// as strings of TOML.
func (p permissionCheck) allowingPatterns(call *executors.Call, tool executors.Tool) (patterns []string, first bool) {
	var added []Rule
	for _, pattern := range p.patterns(call, tool) {
		if pattern == "" || !utf8.ValidString(pattern) {
			return nil, false
		}
		added = append(added, Rule{Pattern: pattern, Action: Allow})
		patterns = append(patterns, tomlString(pattern))
	}
	allowed := func(list []Rule) bool {
		policy := *p.ShellPolicy
		policy.rules.Permissions = maps.Clone(p.rules.Permissions)
		if policy.rules.Permissions == nil {
			policy.rules.Permissions = map[string][]Rule{}
		}
		policy.rules.Permissions[call.Tool] = list
		return permissionCheck{Permission: p.Permission, ShellPolicy: &policy}.decide(call, tool).action == Allow
	}
	existing := p.rules.Permissions[call.Tool]
	first = !allowed(slices.Concat(existing, added))
	if first && !allowed(slices.Concat(added, existing)) {
		return nil, false
	}
	return patterns, first
}

// patterns returns patterns for rules that cover the call and nothing more.
func (p permissionCheck) patterns(call *executors.Call, tool executors.Tool) []string {
	var out []string
	add := func(text string) {
		if pattern := globEscaper.Replace(text); !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
	}
	u, err := url.Parse(call.Card.URL)
	switch {
	case call.Card.Script != nil:
		script := call.Card.Script
		if script.Err != nil {
			return nil
		}
		for _, c := range script.Commands {
			if p.decideSimpleCommand(call.Tool, c, script, false).action == Ask {
				add(c.Text())
			}
		}
	case call.Card.URL != "" && onlyReadsNetwork(tool.Effect) && err == nil:
		add(u.Host)
	case len(call.Card.Paths) > 0:
		for _, path := range call.Card.Paths {
			add(path)
		}
	default:
		out = []string{"*"}
	}
	return out
}

// globEscaper escapes a text so that the pattern matches nothing else.
var globEscaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func tomlKey(s string) string {
	if bareKey.MatchString(s) {
		return s
	}
	return tomlString(s)
}

// tomlString returns s as a basic string of TOML: a JSON string with DEL
// escaped.
func tomlString(s string) string {
	return strings.ReplaceAll(string(plainjson.MustMarshal(s)), "\x7f", `\u007f`)
}
