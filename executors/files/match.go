package files

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// newPathMatcher makes a matcher of a valid glob for the paths of a walk. Most
// entries are told by their names alone, and most patterns need no glob for that.
func newPathMatcher(pattern string) func(entry) bool {
	dirs, last := "", pattern
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 {
		dirs, last = pattern[:i], pattern[i+1:]
	}
	full := func(e entry) bool { return doublestar.MatchUnvalidated(pattern, e.path()) }
	if last == "**" || strings.ContainsAny(dirs, `{[\`) {
		return full
	}
	name := newNameMatcher(last)
	switch dirs {
	case "**":
		return func(e entry) bool { return name(e.Name) }
	case "":
		if pattern != last { // it begins with a slash
			return full
		}
		return func(e entry) bool { return e.in == "" && name(e.Name) }
	}
	return func(e entry) bool { return name(e.Name) && full(e) }
}

// newNameMatcher makes a matcher of a glob without slash.
func newNameMatcher(pattern string) func(name string) bool {
	if all := expand(pattern); all != nil {
		var any []func(string) bool
		for _, one := range all {
			any = append(any, newNameMatcher(one))
		}
		return func(name string) bool {
			for _, match := range any {
				if match(name) {
					return true
				}
			}
			return false
		}
	}
	literal := func(s string) bool { return !strings.ContainsAny(s, `*?[]{}\`) }
	suffix, hasSuffix := strings.CutPrefix(pattern, "*")
	prefix, hasPrefix := strings.CutSuffix(pattern, "*")
	switch {
	case literal(pattern):
		return func(name string) bool { return name == pattern }
	case hasSuffix && literal(suffix):
		return func(name string) bool { return strings.HasSuffix(name, suffix) }
	case hasPrefix && literal(prefix):
		return func(name string) bool { return strings.HasPrefix(name, prefix) }
	case hasSuffix && hasPrefix && len(pattern) > 2 && literal(pattern[1:len(pattern)-1]):
		return func(name string) bool { return strings.Contains(name, pattern[1:len(pattern)-1]) }
	}
	return func(name string) bool { return doublestar.MatchUnvalidated(pattern, name) }
}

// expand writes out the braces of a pattern that has one pair of them and nothing
// odd in it; else it gives nil.
func expand(pattern string) (all []string) {
	head, rest, _ := strings.Cut(pattern, "{")
	middle, tail, ok := strings.Cut(rest, "}")
	if !ok || strings.ContainsAny(pattern, `[\`) || strings.ContainsAny(head+middle+tail, "{}") {
		return nil
	}
	for one := range strings.SplitSeq(middle, ",") {
		if one == "" {
			return nil
		}
		all = append(all, head+one+tail)
	}
	return all
}
