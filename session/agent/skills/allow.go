package skills

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4" // globs with "**"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
)

// Allowed holds the calls that a skill or a command may make, parsed from allowed-tools:
// https://code.claude.com/docs/en/permissions. It only restricts: a call that it permits is checked
// like any other.
type Allowed struct {
	entries []entry
	dir     string // the session's, absolute
}

// entry is one item of allowed-tools: "Read", "Bash(git log:*)".
type entry struct {
	tools []string // names, or patterns of path.Match
	spec  string   // the text in parentheses; empty permits all calls of the tools
}

// ParseAllowed parses the items of allowed-tools, which name known tools, for a session in dir, which
// is absolute.
func ParseAllowed(items []string, dir string, known []executors.Tool) Allowed {
	a := Allowed{dir: dir}
	for _, item := range items {
		name, spec, has := strings.Cut(item, "(")
		if spec = strings.TrimSuffix(spec, ")"); has && spec == "" || spec == "*" {
			spec = ""
		}
		tools, _ := frontmatter.Tools(name, known) // an unknown one permits nothing
		a.entries = append(a.entries, entry{tools, spec})
	}
	return a
}

// covers reports whether an entry is about a tool.
func (e entry) covers(tool string) bool { return frontmatter.MatchesTool(e.tools, tool) }

// Offers reports whether a skill may call a tool at all.
func (a Allowed) Offers(tool executors.Tool) bool {
	return tool.Is(executors.ReadsStored) || slices.ContainsFunc(a.entries, func(e entry) bool { return e.covers(tool.Name) })
}

// Permits reports whether a skill may make a call. Each simple command and each path of
// the call has to match an entry.
func (a Allowed) Permits(call *executors.Call) bool {
	if call.Spec.Is(executors.ReadsStored) {
		return true
	}
	var specs []string
	for _, e := range a.entries {
		if !e.covers(call.Tool) {
			continue
		}
		if e.spec == "" {
			return true
		}
		specs = append(specs, e.spec)
	}
	switch card := call.Card; {
	case len(specs) == 0:
		return false
	case card.Script != nil:
		return commandFits(card.Script, specs)
	case card.URL != "":
		u, err := url.Parse(card.URL)
		return err == nil && slices.Contains(specs, "domain:"+u.Hostname())
	default:
		return len(card.Paths) > 0 && !slices.ContainsFunc(card.Paths, func(path string) bool { return !a.pathFits(path, specs) })
	}
}

// commandFits reports whether every simple command of a script matches a pattern. A script
// that sets variables matches no pattern, since they can change the effect of a program.
func commandFits(script *command.Script, specs []string) bool {
	if home := script.Shell.Home; home != "" { // the words of the script have no "~"
		expand := strings.NewReplacer("~/", home+"/", "$HOME", home)
		specs = slices.Clone(specs)
		for i, spec := range specs {
			specs[i] = expand.Replace(spec)
		}
	}
	if script.Err != nil || len(script.Commands) == 0 || len(script.Assigns) > 0 {
		return false
	}
	for _, c := range script.Commands {
		if len(c.Assigns) > 0 || !slices.ContainsFunc(specs, func(spec string) bool { return textFits(c.Text(), spec) }) {
			return false
		}
	}
	return true
}

// textFits reports whether a command matches "git log", "git log *" or "git log:*".
func textFits(text, spec string) bool {
	if base, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = base + " *"
	}
	if base, ok := strings.CutSuffix(spec, " *"); ok && text == base {
		return true
	}
	re, err := wildcard.Compile(spec)
	return err == nil && re.MatchString(text)
}

// pathFits reports whether a file matches a pattern relative to the session's directory.
func (a Allowed) pathFits(file string, specs []string) bool {
	rel, err := filepath.Rel(a.dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	return slices.ContainsFunc(specs, func(spec string) bool {
		ok, _ := doublestar.Match(strings.TrimPrefix(strings.TrimPrefix(spec, "./"), "/"), filepath.ToSlash(rel))
		return ok
	})
}
