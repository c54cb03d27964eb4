package sandbox

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4" // the globs of deny_read
)

// denyScope describes the directories that may contain a file which a pattern of
// deny_read matches. It only limits the search: it may include too much, since
// the rules themselves decide.
type denyScope struct {
	parts    []string // patterns of an absolute path, one for each name
	anyDepth bool     // the files may also be at any depth below
	anywhere bool     // parts is unused: the pattern applies in every directory
	lastName string   // pattern of the file name; empty means any
}

// newDenyScopes parses a pattern as workspace.ReadRules do. For a pattern relative to the
// roots it returns one scope for each root.
func newDenyScopes(pattern, home string, roots []string) []denyScope {
	pattern = trimPattern(pattern)
	r := denyScope{lastName: lastName(pattern)}
	switch {
	case strings.HasPrefix(pattern, "/**"):
		r.anywhere = true
		return []denyScope{r}
	case strings.HasPrefix(pattern, "/"):
		return r.resolved(pattern)
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if home == "" {
			return nil
		}
		return r.resolved(home + pattern[1:])
	case strings.HasPrefix(pattern, "**/") || !strings.Contains(pattern, "/"):
		r.anywhere = true
		return []denyScope{r}
	}
	var all []denyScope
	for _, root := range roots {
		all = append(all, r.extended(names(root), pattern))
	}
	return all
}

// resolved returns a scope for an absolute pattern as written, and another for the
// target if the pattern's literal beginning leads through links.
func (r denyScope) resolved(pattern string) []denyScope {
	all := []denyScope{r.extended(nil, pattern)}
	if real, below, ok := linkedBase(pattern); ok {
		all = append(all, r.extended(names(real), below))
	}
	return all
}

// linkedBase follows the links in the literal beginning of an absolute pattern. ok is false if there
// are none; else real has no links, and below is the rest of the pattern.
func linkedBase(pattern string) (real, below string, ok bool) {
	base, rest := "/", strings.TrimPrefix(pattern, "/")
	for rest != "" {
		name, after, _ := strings.Cut(rest, "/")
		if strings.ContainsAny(name, `*?[{\`) {
			break
		}
		base, rest = filepath.Join(base, name), after
	}
	for at, below := base, rest; at != "/"; at, below = filepath.Dir(at), filepath.Base(at)+"/"+below {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return real, below, real != at
		}
	}
	return "", "", false
}

// extended appends the parts of a pattern to the parts of a directory.
func (r denyScope) extended(dir []string, pattern string) denyScope {
	for _, name := range dir {
		r.parts = append(r.parts, globEscaper.Replace(name))
	}
	for name := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		if name == "" || name == "." {
			continue
		}
		if strings.Contains(name, "**") || strings.ContainsAny(name, `{\`) {
			r.anyDepth = true
			break
		}
		r.parts = append(r.parts, name)
	}
	return r
}

// mayContain reports whether dir or a directory below it may contain such a file.
func (r denyScope) mayContain(dir []string) bool {
	if r.anywhere {
		return true
	}
	for i, name := range dir {
		if i >= len(r.parts) {
			return r.anyDepth
		}
		if ok, err := doublestar.Match(r.parts[i], name); err == nil && !ok {
			return false
		}
	}
	return true
}

// mayMatchName reports whether a file of that name may match.
func (r denyScope) mayMatchName(name string) bool {
	if r.lastName == "" || r.lastName == name {
		return true
	}
	ok, err := doublestar.Match(r.lastName, name)
	return ok || err != nil
}

// trimPattern removes a redundant end from a pattern: "a/", "a/.", "a/**" and "a" are
// equivalent.
func trimPattern(pattern string) string {
	for strings.HasPrefix(pattern, "./") {
		pattern = pattern[len("./"):]
	}
	for {
		short := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(pattern, "/**"), "/."), "/")
		if short == "" || short == pattern {
			return pattern
		}
		pattern = short
	}
}

// lastName returns the pattern of the last name, empty if any name is possible.
func lastName(pattern string) string {
	if strings.ContainsAny(pattern, `{\`) {
		return ""
	}
	last := pattern[strings.LastIndexByte(pattern, '/')+1:]
	if strings.Contains(last, "**") || last == "~" || last == "." {
		return ""
	}
	return last
}

// names splits an absolute path into its names.
func names(path string) []string {
	path = strings.Trim(filepath.Clean(path), "/")
	if path == "" || path == "." {
		return nil
	}
	return strings.Split(path, "/")
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`)
