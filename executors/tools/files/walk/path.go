package walk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// PathMatcher compiles a valid glob of package doublestar into a function that reports
// whether it matches the path of an entry. Most entries are decided by their names alone,
// and most patterns do so without the glob. The Unicode forms of a name are equal.
func PathMatcher(pattern string) func(Entry) bool {
	match := pathMatcher(norm.NFC.String(pattern))
	if norm.NFC.IsNormalString(pattern) && norm.NFD.IsNormalString(pattern) {
		return match // it has no other form
	}
	return func(e Entry) bool {
		e.Name, e.In = norm.NFC.String(e.Name), norm.NFC.String(e.In)
		return match(e)
	}
}

func pathMatcher(pattern string) func(Entry) bool {
	dirs, last := "", pattern
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 {
		dirs, last = pattern[:i], pattern[i+1:]
	}
	full := func(e Entry) bool { return doublestar.MatchUnvalidated(pattern, e.Path()) }
	if last == "**" || strings.ContainsAny(dirs, `{[\`) {
		return full
	}
	name := newNameMatcher(last)
	switch dirs {
	case "**":
		return func(e Entry) bool { return name(e.Name) }
	case "":
		if pattern != last { // it begins with a slash
			return full
		}
		return func(e Entry) bool { return e.In == "" && name(e.Name) }
	}
	return func(e Entry) bool { return name(e.Name) && full(e) }
}

// newNameMatcher compiles a glob without slash.
func newNameMatcher(pattern string) func(name string) bool {
	if all := expand(pattern); all != nil {
		var matchers []func(string) bool
		for _, one := range all {
			matchers = append(matchers, newNameMatcher(one))
		}
		return func(name string) bool {
			return slices.ContainsFunc(matchers, func(match func(string) bool) bool { return match(name) })
		}
	}
	// The bytes of a text that is no UTF-8 may be a part of a character.
	literal := func(s string) bool { return !strings.ContainsAny(s, `*?[]{}\`) && utf8.ValidString(s) }
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

// expand returns the alternatives of a pattern with one pair of braces; nil for
// other patterns and those with an empty alternative.
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
