package sandbox

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4" // the globs of deny_read
)

// reach describes where files may be that a pattern of deny_read names. It only
// saves looking elsewhere, so it may say yes too often: what is refused is the
// rules' to say.
type reach struct {
	parts    []string // of an absolute path; each matches one name
	open     bool     // and below, at any depth, others
	anywhere bool     // parts are of no use: the pattern holds in every directory
	last     string   // pattern of the name; empty means any
}

// newReach reads a pattern as workspace.ReadRules do. Those that are relative to
// the roots become one reach for each.
func newReach(pattern, home string, roots []string) []reach {
	pattern = trim(pattern)
	r := reach{last: lastName(pattern)}
	switch {
	case strings.HasPrefix(pattern, "/**"):
		r.anywhere = true
		return []reach{r}
	case strings.HasPrefix(pattern, "/"):
		return r.from(pattern)
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if home == "" {
			return nil
		}
		return r.from(home + pattern[1:])
	case strings.HasPrefix(pattern, "**/") || !strings.Contains(pattern, "/"):
		r.anywhere = true
		return []reach{r}
	}
	var all []reach
	for _, root := range roots {
		all = append(all, r.under(names(root), pattern))
	}
	return all
}

// from takes an absolute pattern as it is written, and with the links followed
// that its literal beginning goes through.
func (r reach) from(pattern string) []reach {
	all := []reach{r.under(nil, pattern)}
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
			if real != at {
				all = append(all, r.under(names(real), below))
			}
			break
		}
	}
	return all
}

// under adds the parts of a pattern to those of a directory.
func (r reach) under(dir []string, pattern string) reach {
	for _, name := range dir {
		r.parts = append(r.parts, literal.Replace(name))
	}
	for name := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		if name == "" {
			continue
		}
		if strings.Contains(name, "**") || strings.ContainsAny(name, `{\`) {
			r.open = true
			break
		}
		r.parts = append(r.parts, name)
	}
	return r
}

// below reports whether there may be such a file in dir or deeper.
func (r reach) below(dir []string) bool {
	if r.anywhere {
		return true
	}
	for i, name := range dir {
		if i >= len(r.parts) {
			return r.open
		}
		if ok, err := doublestar.Match(r.parts[i], name); err == nil && !ok {
			return false
		}
	}
	return true
}

// named reports whether a file of that name may be one.
func (r reach) named(name string) bool {
	if r.last == "" || r.last == name {
		return true
	}
	ok, err := doublestar.Match(r.last, name)
	return ok || err != nil
}

// trim takes off a pattern what says nothing: "a/", "a/**" and "a" mean the same.
func trim(pattern string) string {
	for strings.HasPrefix(pattern, "./") {
		pattern = pattern[len("./"):]
	}
	for {
		short := strings.TrimRight(strings.TrimSuffix(pattern, "/**"), "/")
		if short == "" || short == pattern {
			return pattern
		}
		pattern = short
	}
}

// lastName is the pattern of the last name, empty if that cannot be told.
func lastName(pattern string) string {
	if strings.ContainsAny(pattern, `{\`) {
		return ""
	}
	last := pattern[strings.LastIndexByte(pattern, '/')+1:]
	if strings.Contains(last, "**") || last == "~" {
		return ""
	}
	return last
}

// names cuts an absolute path.
func names(path string) []string {
	path = strings.Trim(filepath.Clean(path), "/")
	if path == "" || path == "." {
		return nil
	}
	return strings.Split(path, "/")
}

var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`)
