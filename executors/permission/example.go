package permission

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// wrongExamples returns a message for each example that contradicts its rule, by
// key: "match[0]".
func (r Rule) wrongExamples(subject executors.SubjectKind) map[string]string {
	wrong := map[string]string{}
	for key, list := range map[string][]string{"match": r.Match, "not_match": r.NotMatch} {
		for i, text := range list {
			matches, err := r.Matches(subject, text)
			switch {
			case err != nil:
				wrong[fmt.Sprintf("%s[%d]", key, i)] = err.Error()
			case matches && key == "not_match":
				wrong[fmt.Sprintf("%s[%d]", key, i)] = fmt.Sprintf("the rule %q matches %q", r.Pattern, text)
			case !matches && key == "match":
				wrong[fmt.Sprintf("%s[%d]", key, i)] = fmt.Sprintf("the rule %q does not match %q", r.Pattern, text)
			}
		}
	}
	return wrong
}

// exampleRoot is the workspace root for the examples of rules about files.
const exampleRoot = "/workspace"

// exampleHome is the home directory for the examples of rules.
const exampleHome = "/home/user"

// Matches reports whether the rule matches an example of a subject: a command, a URL, a path, or an
// input as JSON. A rule that allows matches a command if it matches each of its parts; any other
// rule matches if it matches one part.
func (r Rule) Matches(subject executors.SubjectKind, example string) (bool, error) {
	switch subject {
	case executors.CommandSubject:
		return r.matchesCommand(example)
	case executors.URLSubject:
		u, err := url.Parse(example)
		if err != nil || u.Host == "" {
			return false, fmt.Errorf("%q is not a URL", example)
		}
		_, ok := firstURLMatch([]Rule{r}, u)
		return ok, nil
	}
	spell := func(pattern string) []string { return []string{pattern} }
	if !strings.HasPrefix(strings.TrimSpace(example), "{") { // else an input as JSON
		example, spell = examplePath(example), forPaths([]string{filepath.FromSlash(exampleRoot)}, filepath.FromSlash(exampleHome))
	}
	_, ok := firstMatch([]Rule{r}, example, spell)
	return ok, nil
}

// matchesCommand reports whether the rule decides about a script. A rule that allows must match
// every command of it, another one any.
func (r Rule) matchesCommand(example string) (bool, error) {
	s := command.Parse(example, command.Shell{Dir: exampleRoot, Home: exampleHome})
	if s.Err != nil {
		return false, fmt.Errorf("%q cannot be parsed: %w", example, s.Err)
	}
	all, some := true, false
	for _, c := range s.Commands {
		_, ok := firstCommandMatch([]Rule{r}, c, func(texts []string) []string { return texts })
		some = some || ok
		all = all && (ok || c.Guess || onlyWraps(c))
	}
	if r.Action == Allow {
		return some && all, nil
	}
	if r.Action == Deny && !some {
		_, some = firstMatch([]Rule{r}, example, asWritten)
	}
	return some, nil
}

// examplePath returns an example as an absolute path.
func examplePath(example string) string {
	example = filepath.FromSlash(example)
	switch rest, home := strings.CutPrefix(example, "~"+string(filepath.Separator)); {
	case home:
		return filepath.Join(filepath.FromSlash(exampleHome), rest)
	case filepath.IsAbs(example):
		return filepath.Clean(example)
	}
	return filepath.Join(filepath.FromSlash(exampleRoot), example)
}
