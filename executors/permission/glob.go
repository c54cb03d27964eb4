package permission

import (
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// firstMatch returns the first rule with a pattern that matches text. A pattern
// that does not compile matches everything in a deny or ask rule, and nothing
// in an allow rule.
func firstMatch(list []Rule, text string, spell func(pattern string) []string) (Rule, bool) {
	for _, r := range list {
		for _, p := range spell(r.Pattern) {
			re, err := wildcard.Compile(p)
			if err != nil && r.Action != Allow || err == nil && re.MatchString(text) {
				return r, true
			}
		}
	}
	return Rule{}, false
}

// asWritten returns the pattern as the only spelling, for commands.
func asWritten(pattern string) []string { return []string{pattern} }

// forPaths returns a function that lists the spellings of a pattern for
// absolute paths.
func forPaths(roots []string, home string) func(string) []string {
	return func(pattern string) []string {
		switch {
		case strings.HasPrefix(pattern, "~/") && home != "":
			return []string{filepath.Join(home, pattern[2:])}
		case filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "*"):
			return []string{pattern}
		}
		out := []string{pattern}
		for _, r := range roots {
			out = append(out, filepath.Join(r, pattern))
		}
		return out
	}
}
