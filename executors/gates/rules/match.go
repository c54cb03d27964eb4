package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
)

// subject is a call in the form in which rules are matched with it. It is prepared once
// for all rules.
type subject struct {
	target.Targets
	call    *executors.Call
	options Options
	level   string
	stopped func() bool
	parts   []part
	texts   [][]byte                        // of the input
	names   map[executors.Decision][]string // of the tool, by the effect of the rule
}

// part is a part of a call with its texts.
type part struct {
	target.Part
	texts [][]byte
	files []file
}

// file is a file with all its paths, with slashes.
type file struct {
	target.File
	paths []string
}

// newSubject prepares a call: it finds its targets, and the names by which rules may call
// its tool.
func newSubject(call *executors.Call, o Options, stopped func() bool) *subject {
	s := &subject{Targets: target.Of(call, o.session()), call: call, options: o, level: trusted, stopped: stopped}
	o.mapPaths(&s.Targets)
	if o.Level != nil {
		s.level = o.Level(call)
	}
	s.texts = bytesOf(s.Texts)
	for _, p := range s.Parts {
		next := part{Part: p, texts: bytesOf(p.Texts)}
		for _, f := range p.Files {
			paths := slices.Concat(f.Names, f.Places)
			for i := range paths {
				paths[i] = filepath.ToSlash(paths[i])
			}
			slices.Sort(paths)
			next.files = append(next.files, file{f, slices.Compact(paths)})
		}
		s.parts = append(s.parts, next)
	}
	s.names = map[executors.Decision][]string{
		executors.Allow: o.toolNames(call, executors.Allow),
		executors.Deny:  o.toolNames(call, executors.Deny),
	}
	return s
}

// session returns the surroundings of a call.
func (o Options) session() target.Session {
	s := o.Session
	s.Roots = o.Roots
	return s
}

// mapPaths replaces the names of the targets by those that rules use.
func (o Options) mapPaths(t *target.Targets) {
	if o.MapPaths == nil {
		return
	}
	mapAll := func(list []string) []string {
		out := make([]string, len(list))
		for i, text := range list {
			out[i] = o.MapPaths(text)
		}
		return out
	}
	t.Texts = mapAll(t.Texts)
	for i := range t.Parts {
		p := &t.Parts[i]
		p.Texts = mapAll(p.Texts)
		for j := range p.Files {
			p.Files[j].Names, p.Files[j].Places = mapAll(p.Files[j].Names), mapAll(p.Files[j].Places)
		}
	}
}

func bytesOf(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, text := range texts {
		out[i] = []byte(text)
	}
	return out
}

// concerns reports whether a rule is about the call's tool, level and environment.
func (s *subject) concerns(r rule) bool {
	if r.TrustLevel != "" && rank(s.level) < r.level {
		return false
	}
	if slices.ContainsFunc(r.Env, func(name string) bool { return s.options.Getenv == nil || s.options.Getenv(name) == "" }) {
		return false
	}
	return slices.ContainsFunc(s.names[r.Effect], r.tool)
}

// toolNames returns the names of a call's tool that a rule may use. A deny also covers the tools of
// MCP servers with such a name.
func (o Options) toolNames(call *executors.Call, effect executors.Decision) []string {
	names := append([]string{call.Tool}, strings.Fields(call.Spec.Names.Earlier)...)
	_, own, ok := strings.Cut(call.Tool, "__")
	if !ok || effect != executors.Deny {
		return names
	}
	names = append(names, own)
	if o.Tools == nil {
		return names
	}
	own = strings.ToLower(own)
	for _, t := range o.Tools() {
		if t.Name == own || executors.Lists(t.Names.Earlier, own) {
			names = append(append(names, t.Name), strings.Fields(t.Names.Earlier)...)
		}
	}
	return names
}

// matchDeny returns Deny if a rule that denies matches the call, Ask with a reason if
// that is uncertain, else "".
func (s *subject) matchDeny(r rule) (executors.Decision, string) {
	files, why := s.matchDeniedPath(r)
	if files == "" {
		return "", ""
	}
	if r.args == nil || s.matchesText(r) {
		return files, why
	}
	return s.uncertain(nil)
}

// uncertain returns Ask with a reason if a rule that does not match may still concern the
// call: a target is unknown, or only the running shell can determine a word of a command.
// The words of the programs in except do not count.
func (s *subject) uncertain(except []string) (executors.Decision, string) {
	if s.Unknown != "" {
		return executors.Ask, "a rule may deny it: " + s.Unknown
	}
	for _, p := range s.Parts {
		if p.Computed && !p.Guess() && !slices.Contains(except, p.Command.Program()) {
			return executors.Ask, "a rule may deny it: a part of it is computed at run time"
		}
	}
	return "", ""
}

// printers are programs whose operands are texts and never files.
var printers = []string{"echo", "printf"}

// matchDeniedPath is matchDeny for the paths of a rule; a rule without paths matches.
func (s *subject) matchDeniedPath(r rule) (executors.Decision, string) {
	if len(r.paths) == 0 {
		return executors.Deny, ""
	}
	why := ""
	for _, part := range s.parts {
		for _, f := range part.files {
			for _, p := range r.paths {
				switch {
				case p.denies(f):
					return executors.Deny, ""
				case f.Below && p.mayLieBelow(f):
					why = fmt.Sprintf("%s may contain files that a rule denies", f.Names[0])
				}
			}
		}
		for _, u := range part.URLs {
			if slices.ContainsFunc(r.paths, func(p pathPattern) bool { return p.deniesURL(u) }) {
				return executors.Deny, ""
			}
		}
	}
	if why != "" {
		return executors.Ask, why
	}
	return s.uncertain(printers)
}

// matchesText reports whether a text of the call matches a rule that denies: a text of
// the input, or a command as written or as it would be looked up.
func (s *subject) matchesText(r rule) bool {
	matches := func(text []byte) bool { return r.args(text, s.stopped) }
	return slices.ContainsFunc(s.texts, matches) || slices.ContainsFunc(s.parts, func(p part) bool {
		return slices.ContainsFunc(p.texts, matches) || p.Command != nil && s.matchesLater(p.Command, matches)
	})
}

// matchesLater reports whether a later part of a command's words matches.
func (s *subject) matchesLater(c *command.Command, matches func(text []byte) bool) bool {
	found := false
	c.Later(func(text []byte) bool {
		found = matches(text)
		return !found && !s.stopped()
	})
	return found
}

// allowedBy reports whether a rule that allows covers a part of the call.
func (s *subject) allowedBy(r rule, p part) bool {
	if len(r.paths) == 0 && r.args == nil {
		return true
	}
	if s.Unknown != "" {
		return false
	}
	if r.args != nil {
		texts := p.texts
		if p.Command != nil {
			texts = texts[:1] // as written
		}
		if p.Computed || len(texts) == 0 || slices.ContainsFunc(texts, func(text []byte) bool { return !r.args(text, s.stopped) }) {
			return false
		}
	}
	return len(r.paths) == 0 || r.coversPaths(p.Part)
}

// coversPaths reports whether the paths of a rule cover all places of a part, which
// has at least one.
func (r rule) coversPaths(p target.Part) bool {
	some := false
	for _, f := range p.Files {
		for _, place := range f.Places {
			some = true
			if !slices.ContainsFunc(r.paths, func(p pathPattern) bool { return p.allows(place, f.Below) }) {
				return false
			}
		}
	}
	for _, u := range p.URLs {
		some = true
		if !slices.ContainsFunc(r.paths, func(p pathPattern) bool { return p.allowsURL(u) }) {
			return false
		}
	}
	return some
}

// changes reports whether the call may change a file. The name "" is no file.
func (s *subject) changes(file string) bool {
	if file == "" || s.call.Card.Command() == "" && s.call.Spec.Effect.ReadOnly() {
		return false
	}
	for _, p := range s.Parts {
		if p.Command != nil && p.Command.ReadOnly() {
			continue
		}
		if slices.ContainsFunc(p.Files, func(f target.File) bool { return covers(f, file) }) {
			return true
		}
	}
	return false
}

// covers reports whether a target of a call is a file, or a directory with the file in it.
func covers(f target.File, file string) bool {
	isTarget := func(place string) bool { return place == file || f.Below && isBelow(file, place) }
	return slices.ContainsFunc(f.Names, isTarget) || slices.ContainsFunc(f.Places, isTarget)
}

// isBelow reports whether path lies below dir. The directory itself does not.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
