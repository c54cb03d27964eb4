package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// matcher reports whether a text matches; false if stopped returned true.
type matcher func(text []byte, stopped func() bool) bool

// compileTool returns the function that matches names of tools with a pattern.
func compileTool(pattern string) func(name string) bool {
	switch {
	case strings.Trim(pattern, "*") == "":
		return func(string) bool { return true }
	case !strings.ContainsAny(pattern, "*?["):
		return func(name string) bool { return strings.EqualFold(name, pattern) }
	}
	re, err := wildcard.Compile(pattern)
	if err != nil { // Validate refuses it
		return func(string) bool { return true }
	}
	return re.MatchString
}

func compileArgs(regex string) matcher {
	p, err := pattern.Compile(regex)
	if err != nil { // Validate refuses it
		return func([]byte, func() bool) bool { return false }
	}
	return p.Match
}

// pathPattern is one spelling of a pattern of Rule.Paths.
type pathPattern struct {
	prefix string            // of text, before the first wildcard
	ascii  bool              // prefix is ASCII, so that letters are equal to one other letter at most
	text   string            // absolute, or beginning with "*"; for addresses as written
	loose  func(string) bool // for a deny: without regard to letter case, with everything below
	exact  func(string) bool // for an allow
}

// compilePath returns the spellings of a pattern for the directories of a session.
func compilePath(text string, o Options) []pathPattern {
	spellings := []string{text}
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		spellings = []string{filepath.ToSlash(o.Home) + text[1:]}
	case filepath.IsAbs(text), strings.HasPrefix(text, "*"), strings.Contains(text, "://"):
	default:
		spellings = nil
		for _, root := range o.Roots {
			spellings = append(spellings, filepath.ToSlash(filepath.Join(root, text)))
		}
		spellings = append(spellings, text) // the host of an address
	}
	var out []pathPattern
	for _, text := range spellings {
		loose, err := wildcard.Compile(text)
		if err != nil { // Validate refuses it
			continue
		}
		p := pathPattern{text: text, prefix: text, exact: loose.MatchString}
		if end := strings.IndexAny(text, "*?["); end >= 0 {
			p.prefix = text[:end]
		}
		p.ascii = strings.IndexFunc(p.prefix, func(r rune) bool { return r > 127 }) < 0
		if runtime.GOOS != "windows" && runtime.GOOS != "darwin" { // where file systems distinguish letter case
			p.exact = regexp.MustCompile("(?s)" + strings.TrimPrefix(loose.String(), "(?is)")).MatchString
		}
		// A deny of a directory covers its contents, and one of the contents covers the
		// directory itself.
		whole := strings.TrimSuffix(strings.TrimSuffix(loose.String(), "$"), "/.*")
		p.loose = regexp.MustCompile(whole + "(?:/.*)?$").MatchString
		out = append(out, p)
	}
	return out
}

// denies reports whether a file has a name or a place that matches, or certainly
// contains one.
func (p pathPattern) denies(f file) bool {
	if slices.ContainsFunc(f.paths, func(path string) bool { return p.mayBegin(path) && p.loose(path) }) {
		return true
	}
	if !f.Below {
		return false
	}
	fixed := p.fixedPrefix()
	return slices.ContainsFunc(f.paths, func(dir string) bool {
		if !isBelow(strings.ToLower(fixed), strings.ToLower(dir)) {
			return false
		}
		_, err := os.Lstat(fixed)
		return err == nil
	})
}

// mayBegin reports whether a path begins as the pattern does. It saves the matching
// of most paths.
func (p pathPattern) mayBegin(path string) bool {
	n := min(len(p.prefix), len(path))
	return !p.ascii || strings.EqualFold(p.prefix[:n], path[:n]) || strings.IndexFunc(path, func(r rune) bool { return r > 127 }) >= 0
}

// fixedPrefix returns the path up to the last "/" before the first wildcard; all of it if it
// has none.
func (p pathPattern) fixedPrefix() string {
	if p.prefix == p.text {
		return p.text
	}
	return filepath.Dir(p.prefix + "x")
}

// mayLieBelow reports whether the pattern may match something inside a directory.
func (p pathPattern) mayLieBelow(f file) bool {
	if p.prefix == p.text || strings.Contains(p.text, "://") {
		return false
	}
	prefix := strings.ToLower(p.prefix)
	return slices.ContainsFunc(f.paths, func(dir string) bool { return strings.HasPrefix(strings.ToLower(dir)+"/", prefix) })
}

// allows reports whether the pattern covers a place and, if below is set, everything
// inside it.
func (p pathPattern) allows(place string, below bool) bool {
	place = filepath.ToSlash(place)
	if dir, ok := strings.CutSuffix(p.text, "/**"); ok && dir == place { // the directory and its contents
		return true
	}
	return p.exact(place) && (!below || p.exact(place+"/\x01/\x01"))
}

// deniesURL reports whether the pattern may mean an address.
func (p pathPattern) deniesURL(u target.URL) bool {
	bare := strings.TrimPrefix(u.Host, "www.")
	names := []string{u.Text, u.Decoded, u.Host, bare, "www." + bare}
	for _, text := range []string{u.Text, u.Decoded} {
		_, rest, _ := strings.Cut(text, "://")
		names = append(names, rest, strings.TrimSuffix(rest, "/"), strings.TrimSuffix(text, "/"))
	}
	return slices.ContainsFunc(names, p.loose)
}

// allowsURL reports whether the pattern covers an address. Scheme, host and path are
// matched separately: a "*" in the host must not reach into the path, which anyone
// can choose.
func (p pathPattern) allowsURL(u target.URL) bool {
	if strings.Trim(p.text, "*") == "" {
		return true
	}
	scheme, rest, ok := strings.Cut(p.text, "://")
	if !ok {
		return false
	}
	host, path, hasPath := strings.Cut(rest, "/")
	authority := u.Host
	if u.Port != "" {
		authority += ":" + u.Port
	}
	match := func(pattern, text string) bool {
		re, err := wildcard.Compile(pattern)
		return err == nil && re.MatchString(text)
	}
	return match(scheme, u.Scheme) && match(host, authority) && (!hasPath || match("/"+path, u.Path))
}
