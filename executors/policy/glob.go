package policy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// globs caches compiled patterns. They are few, and each call is matched
// against them.
var globs sync.Map // string -> *regexp.Regexp

// maxPattern is the longest pattern of a Rule, in bytes. Matching takes time
// proportional to the length of the pattern times that of the command.
const maxPattern = 4 << 10

// glob compiles a pattern of a Rule.
func glob(pattern string) (*regexp.Regexp, error) {
	if re, ok := globs.Load(pattern); ok {
		return re.(*regexp.Regexp), nil
	}
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, more than the limit of %d", len(pattern), maxPattern)
	}
	var b strings.Builder
	b.WriteString(`(?is)^`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			if i == 0 || pattern[i-1] != '*' {
				b.WriteString(`.*`)
			}
		case '?':
			b.WriteString(`.`)
		case '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			set := pattern[i+1 : i+1+end]
			if set[0] == '!' {
				set = "^" + set[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(set, `\`, `\\`) + "]")
			i += end + 1
		default:
			end := strings.IndexAny(pattern[i:], "*?[")
			if end < 0 {
				end = len(pattern) - i
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+end]))
			i += end - 1
		}
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("not a pattern: %q", pattern)
	}
	globs.Store(pattern, re)
	return re, nil
}

// firstMatch returns the first rule with a pattern that matches text. A pattern
// that does not compile matches everything in a deny or ask rule, and nothing
// in an allow rule.
func firstMatch(list []Rule, text string, spell func(pattern string) []string) (Rule, bool) {
	for _, r := range list {
		for _, p := range spell(r.Pattern) {
			re, err := glob(p)
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
