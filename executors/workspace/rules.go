package workspace

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// systemFoldsNames reports whether names are compared case-insensitively, as the file
// systems of macOS and Windows do by default.
const systemFoldsNames = runtime.GOOS == "darwin" || runtime.GOOS == "ios" || runtime.GOOS == "windows"

// foldsNames reports whether the file system at dir ignores the case of names, as a Windows
// drive under WSL does.
func foldsNames(dir string) bool {
	paths := []string{dir}
	if f, err := os.Open(dir); err == nil {
		names, _ := f.Readdirnames(16) // all that it has, since dir itself may be a mount point
		f.Close()
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		up, name := filepath.Split(path)
		other := strings.ToUpper(name)
		if other == name {
			other = strings.ToLower(name)
		}
		a, err := os.Lstat(path)
		b, missing := os.Lstat(up + other)
		return other != name && err == nil && missing == nil && os.SameFile(a, b)
	})
}

// ruleSet is a list of patterns, grouped by the text that they are matched
// against.
type ruleSet struct {
	below    []nameRule // names below the roots
	anywhere []nameRule // names at any depth of the path
	paths    []pathRule
}

// add adds one pattern of a list to its set.
func (r *Readable) add(set *ruleSet, source string) error {
	if err := CheckPattern(source); err != nil {
		return err
	}
	pattern := source
	if source == "~" || strings.HasPrefix(source, "~/") {
		home, err := expandHome("~")
		if err != nil {
			return err
		}
		pattern = escaped(home) + source[1:]
	}
	nested := strings.Contains(strings.TrimRight(pattern, "/"), "/")
	pattern = trimPattern(pattern)
	name, anywhere := pattern, false
	for strings.HasPrefix(name, "**/") {
		name, anywhere = name[len("**/"):], true
	}
	switch {
	case strings.HasPrefix(pattern, "/") || filepath.VolumeName(pattern) != "":
		r.addAbsolute(set, source, pattern)
	case !strings.Contains(name, "/") && anywhere || name == "**":
		set.anywhere = append(set.anywhere, newNameRule(source, r.foldPattern(name)))
	case !nested:
		set.below = append(set.below, newNameRule(source, r.foldPattern(name)))
	case anywhere:
		p := newPathRule(source, r.foldPattern("**/"+name))
		p.onlyInside = set == &r.allow
		set.paths = append(set.paths, p)
	default:
		for _, dir := range r.roots.dirs {
			set.paths = append(set.paths, newPathRule(source, r.foldPattern(escaped(r.roots.nameInRules(dir))+"/"+pattern)))
		}
	}
	return nil
}

// addAbsolute adds a pattern as written and with the links in its literal
// beginning resolved. For an allowed path inside the roots links are not resolved:
// anyone who works there could make such a link point anywhere.
func (r *Readable) addAbsolute(set *ruleSet, source, pattern string) {
	set.paths = append(set.paths, newPathRule(source, r.foldPattern(pattern)))
	base, rest := splitPattern(pattern)
	if base == "" || set == &r.allow && r.roots.Contains(filepath.FromSlash(base)) {
		return
	}
	real, err := (*StatCache)(nil).follow(filepath.FromSlash(base))
	if err != nil || filepath.ToSlash(real) == base {
		return
	}
	if real = escaped(real); rest != "" {
		real += "/" + rest
	}
	set.paths = append(set.paths, newPathRule(source, r.foldPattern(real)))
}

// escaped returns a pattern for a path, without a slash at its end.
func escaped(path string) string {
	return escape.Replace(strings.TrimSuffix(filepath.ToSlash(path), "/"))
}

// trimPattern removes a redundant end: "a/", "a/**" and "a" are equivalent, since a
// rule for a directory covers everything below it.
func trimPattern(pattern string) string {
	for strings.HasPrefix(pattern, "./") {
		pattern = pattern[len("./"):]
	}
	for {
		short := strings.TrimSuffix(strings.TrimSuffix(pattern, "/**"), "/")
		if short == pattern {
			return pattern
		}
		if short == "" || strings.HasSuffix(short, ":") {
			return short + "/"
		}
		pattern = short
	}
}

// splitPattern splits an absolute pattern into its leading names without wildcards,
// as a path, and the rest; the path is empty if there are none.
func splitPattern(pattern string) (base, rest string) {
	names := strings.Split(pattern, "/")
	n := 0
	for n < len(names) && !strings.ContainsAny(unescaper.Replace(names[n]), `*?[{`) {
		names[n] = pathname.Unescape(names[n])
		n++
	}
	return strings.Join(names[:n], "/"), strings.Join(names[n:], "/")
}

// unescaper removes escaped characters, which are not wildcards.
var unescaper = strings.NewReplacer(`\\`, "", `\*`, "", `\?`, "", `\[`, "", `\{`, "")

// match returns the first pattern that matches path, whose last name is name. below
// reports whether patterns for names below the roots apply, inside whether path is
// in a root.
func (s *ruleSet) match(name, path string, below, inside bool) (pattern string, ok bool) {
	if below {
		if pattern, ok := firstMatch(s.below, name); ok {
			return pattern, true
		}
	}
	if inside {
		if pattern, ok := firstMatch(s.anywhere, name); ok {
			return pattern, true
		}
	}
	for i := range s.paths {
		if p := &s.paths[i]; (inside || !p.onlyInside) && p.match(name, path) {
			return p.source, true
		}
	}
	return "", false
}

// needsPath reports whether checking the entry name of the directory dir requires
// its path.
func (s *ruleSet) needsPath(name, dir string) bool {
	for i := range s.paths {
		p := &s.paths[i]
		if p.mayMatch(name) && (p.literal && strings.HasPrefix(p.base, dir) || slashWithin(p.base, dir)) {
			return true
		}
	}
	return false
}

// nameRule is a pattern for one name.
type nameRule struct {
	source string // the original spelling
	glob   string
	mode   matchMode
}

// firstMatch returns the source of the first rule that matches a name.
func firstMatch(rules []nameRule, name string) (source string, ok bool) {
	for i := range rules {
		if rules[i].match(name) {
			return rules[i].source, true
		}
	}
	return "", false
}

// matchMode selects how a pattern is matched: most need no glob matcher.
type matchMode uint8

const (
	byGlob    matchMode = iota
	byLiteral           // no wildcard
	bySuffix            // "*" and a literal
)

func newNameRule(source, glob string) nameRule {
	n := nameRule{source: source, glob: glob}
	switch rest := strings.TrimPrefix(glob, "*"); {
	case !strings.ContainsAny(glob, `*?[{\`):
		n.mode = byLiteral
	case len(rest) < len(glob) && !strings.ContainsAny(rest, `*?[{\`):
		n.mode, n.glob = bySuffix, rest
	}
	return n
}

func (n *nameRule) match(name string) bool {
	switch n.mode {
	case byLiteral:
		return name == n.glob
	case bySuffix:
		return strings.HasSuffix(name, n.glob)
	}
	return doublestar.MatchUnvalidated(n.glob, name)
}

// pathRule is a pattern for a whole path.
type pathRule struct {
	source     string // the original spelling
	glob       string
	base       string    // the leading directories without wildcards
	literal    bool      // base is the whole pattern
	last       *nameRule // what the last name must match; nil means unknown
	names      []string  // the patterns after base; nil means unknown
	onlyInside bool      // it applies only to paths in the roots
}

func newPathRule(source, glob string) pathRule {
	p := pathRule{source: source, glob: glob}
	base, rest := splitPattern(glob)
	if strings.HasPrefix(glob, "**") {
		base, rest = "", glob
	}
	p.base, p.literal = strings.TrimSuffix(base, "/"), rest == ""
	if p.literal && p.base != "" {
		p.last = &nameRule{source: source, glob: path.Base(p.base), mode: byLiteral}
	}
	if p.literal {
		return p
	}
	if strings.ContainsAny(rest, "{[") { // these may contain a slash
		return p
	}
	p.names = strings.Split(rest, "/")
	if last := p.names[len(p.names)-1]; !strings.Contains(last, "**") {
		n := newNameRule(source, last)
		p.last = &n
	}
	return p
}

// mayMatch reports whether a path with that last name may match.
func (p *pathRule) mayMatch(name string) bool { return p.last == nil || p.last.match(name) }

func (p *pathRule) match(name, path string) bool {
	switch {
	case !p.mayMatch(name):
		return false
	case p.literal:
		return path == p.base
	case !slashWithin(p.base, path):
		return false
	}
	return doublestar.MatchUnvalidated(p.glob, cmp.Or(path, "/")) // "" is the topmost
}

// mayMatchBelow reports whether a path below the directory path may match.
func (p *pathRule) mayMatchBelow(path string) bool {
	if slashWithin(path, p.base) {
		return true
	}
	if p.literal || !slashWithin(p.base, path) {
		return false
	}
	if p.names == nil {
		return true
	}
	rest := strings.Split(path[len(p.base)+1:], "/")
	for i, name := range rest {
		switch {
		case i >= len(p.names):
			return false
		case strings.Contains(p.names[i], "**"):
			return true
		case !doublestar.MatchUnvalidated(p.names[i], name):
			return false
		}
	}
	return len(rest) < len(p.names)
}

// slashWithin reports whether path is dir or inside; both are slash-separated, and
// "" is the topmost.
func slashWithin(dir, path string) bool {
	return strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// foldPattern returns a pattern with the letter case, Unicode form and separators that the rules use.
func (r *Readable) foldPattern(pattern string) string {
	pattern = norm.NFC.String(pattern)
	if !r.foldCase {
		return pattern
	}
	return strings.ToLower(strings.ToUpper(pattern))
}

// pathInRules returns an absolute path in the form that the rules use.
func (r *Readable) pathInRules(abs string) string {
	abs = norm.NFC.String(filepath.ToSlash(abs))
	if !r.foldCase {
		return abs
	}
	names := strings.Split(abs, "/")
	for i, name := range names {
		names[i] = r.foldName(name)
	}
	return strings.Join(names, "/")
}

// foldName returns a name in the form that the rules use.
func (r *Readable) foldName(name string) string {
	if !r.foldCase || len(name) == 2 && name[1] == ':' { // a volume
		return r.foldPattern(name)
	}
	return fold(norm.NFC.String(name))
}
