package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4" // globs with "**", which package path lacks
)

// ReadRules decide which files tools may read, list, search and copy. Deny always
// wins. If Allow is not empty, only files that it names may be read, even outside
// the roots.
//
// A pattern is a doublestar glob with slashes, matched against the path without
// symlinks. A pattern for a directory covers everything below it. One that begins
// with "/" or "~/" is absolute. One that begins with "**/" denies anywhere, and
// allows anywhere inside the roots. One without a slash ("*.pem", "keys/") matches
// names at any depth below the roots, and denies outside of them too. Any other
// pattern ("src/**", "./a") is relative to each root.
//
// Letter case matters, except on macOS and Windows. A file is checked by the name that is
// used to read it, so a hard link with another name counts as another file.
type ReadRules struct {
	Deny, Allow []string
}

// DeniedError reports that a file may not be read.
type DeniedError struct {
	Path    string // as the caller named it
	Pattern string // the pattern of Deny that matches; "" if Allow does not match
}

// Key returns the setting that refuses the file.
func (e *DeniedError) Key() string {
	if e.Pattern == "" {
		return "allow_read"
	}
	return "deny_read"
}

// Error names the path and the setting.
func (e *DeniedError) Error() string {
	if e.Pattern == "" {
		return fmt.Sprintf("%s may not be read: [tools.file] allow_read does not name it", e.Path)
	}
	return fmt.Sprintf("%s may not be read: [tools.file] deny_read names it", e.Path)
}

// Limits for one pattern: matching a glob takes time for each combination of its
// braces.
const (
	maxPattern = 1024
	maxBraces  = 8
)

// CheckPattern returns the fault of a pattern of ReadRules, nil if it is valid.
func CheckPattern(pattern string) error {
	switch {
	case strings.Trim(pattern, "/") == "" && pattern != "/":
		return errors.New("the pattern is empty")
	case len(pattern) > maxPattern || strings.Count(pattern, "{") > maxBraces:
		return fmt.Errorf("the pattern has more than %d bytes or %d braces", maxPattern, maxBraces)
	case strings.ContainsRune(pattern, 0):
		return fmt.Errorf("%q contains a NUL", pattern)
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("%q is not a valid glob; close each [ and {", pattern)
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		return fmt.Errorf("%q contains .., which no resolved path has", pattern)
	case strings.HasPrefix(pattern, "~") && pattern != "~" && !strings.HasPrefix(pattern, "~/"):
		return fmt.Errorf("%q: only ~/ is a home directory; write [~] for a name that begins with ~", pattern)
	}
	return nil
}

// Readable holds ReadRules compiled for the roots of one session. It is immutable,
// so it may be used concurrently; a nil one refuses nothing.
type Readable struct {
	roots       *Roots
	deny, allow ruleSet
	allows      bool                   // there is an allow list
	foldCase    bool                   // names are compared case-insensitively
	tops        map[string]readVerdict // of the outermost roots
}

// Reading returns the same roots with rules for reading. All methods that
// resolve, stat, open or list paths return a *DeniedError for paths that the
// rules refuse. Files outside the roots that an absolute pattern of Allow
// matches can be read as if they were inside.
func (r *Roots) Reading(rules ReadRules) (*Roots, error) {
	read, err := rules.compile(r)
	if err != nil {
		return nil, err
	}
	out := *r
	out.read = read
	return &out, nil
}

// Writing returns the same roots without rules for reading, for changes that do not
// read the files.
func (r *Roots) Writing() *Roots {
	if r.read == nil {
		return r
	}
	out := *r
	out.read = nil
	return &out
}

// Readable returns the rules for reading, nil if there are none.
func (r *Roots) Readable() *Readable { return r.read }

// compile prepares the rules for a session with these roots. It returns nil if there are no
// rules.
func (rules ReadRules) compile(roots *Roots) (*Readable, error) {
	if len(rules.Deny) == 0 && len(rules.Allow) == 0 {
		return nil, nil
	}
	fold := systemFoldsNames || slices.ContainsFunc(roots.dirs, foldsNames)
	r := &Readable{roots: roots, allows: len(rules.Allow) > 0, foldCase: fold, tops: map[string]readVerdict{}}
	for _, pattern := range rules.Deny {
		if err := r.add(&r.deny, pattern); err != nil {
			return nil, fmt.Errorf("deny_read: %w", err)
		}
	}
	for _, pattern := range rules.Allow {
		if err := r.add(&r.allow, pattern); err != nil {
			return nil, fmt.Errorf("allow_read: %w", err)
		}
	}
	for _, dir := range roots.dirs {
		top, _ := roots.root(dir)
		r.tops[top] = r.rootVerdict(top)
	}
	return r, nil
}

// Refuses reports whether the file at abs, an absolute path without links, may
// not be read; pattern is the pattern of Deny that matches it. The file need not
// exist.
func (r *Readable) Refuses(abs string) (pattern string, refused bool) {
	return r.refuses(abs, false)
}

// RefusesDir is like Refuses for a directory. A directory that is not allowed
// itself may still be traversed to reach an allowed file.
func (r *Readable) RefusesDir(abs string) (pattern string, refused bool) {
	return r.refuses(abs, true)
}

func (r *Readable) refuses(abs string, dir bool) (pattern string, refused bool) {
	if r == nil {
		return "", false
	}
	v := r.verdictOn(abs)
	return v.pattern, !v.passes(dir)
}

// outside returns the directory to open for abs, which is in no root but may be
// read or traversed.
func (r *Readable) outside(abs string) (dir string, ok bool) {
	if r == nil || !r.allows {
		return "", false
	}
	v := r.verdictOn(abs)
	if !v.mayTraverse() {
		return "", false
	}
	for i := range r.allow.paths {
		p := &r.allow.paths[i]
		from := p.base
		if p.literal {
			from = from[:max(0, strings.LastIndexByte(from, '/'))]
		}
		if p.onlyInside || !slashWithin(from, v.path) || !v.allowed && !p.mayMatchBelow(v.path) {
			continue
		}
		dir = abs // in its original spelling; the rule's is folded
		for up := strings.Count(v.path, "/") - strings.Count(from, "/"); up > 0; up-- {
			dir = filepath.Dir(dir)
		}
		return dir, true
	}
	return "", false
}

// allowsOutside reports whether a call may name abs, which is in no root.
func (r *Readable) allowsOutside(abs string) bool {
	_, ok := r.outside(abs)
	return ok && r.verdictOn(abs).mayRead()
}

// readVerdict is the verdict of the rules on a file or directory. The zero value permits
// everything, as without rules.
type readVerdict struct {
	read    *Readable
	path    string // slash-separated, as the rules see it; "" is "/"
	inside  bool   // it is in a root
	denied  bool
	pattern string // of the rule that denies it or a directory above it
	allowed bool
}

// verdictOn checks a path by the rules for itself and for the directories above it.
func (r *Readable) verdictOn(abs string) readVerdict {
	if top, ok := r.roots.root(abs); ok {
		v := r.tops[top]
		rel, _ := relative(top, abs)
		for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
			if name != "." {
				v = v.enter(name)
			}
		}
		return v
	}
	if parent := filepath.Dir(abs); parent != abs {
		return r.verdictOn(parent).enter(filepath.Base(abs))
	}
	v := readVerdict{read: r, path: strings.TrimSuffix(r.pathInRules(abs), "/")}
	v.check("", v.path, atRoot)
	return v
}

// rootVerdict checks a root. Patterns for names below the roots do not apply to it.
func (r *Readable) rootVerdict(dir string) readVerdict {
	v := readVerdict{read: r, inside: true}
	for i, name := range strings.Split(strings.TrimSuffix(r.pathInRules(r.roots.nameInRules(dir)), "/"), "/") {
		if i > 0 {
			v.path += "/"
		}
		v.path += name // the first name is empty, or a volume
		v.check(name, v.path, atRoot)
	}
	return v
}

// enter returns the verdict on the entry name of a directory.
func (v readVerdict) enter(name string) readVerdict {
	if v.read == nil {
		return v
	}
	name = v.read.foldName(name)
	v.path += "/" + name
	v.check(name, v.path, belowRoot)
	return v
}

// lists reports whether a listing of the directory may show the entry name. It computes
// the path of a file only if a rule depends on it.
func (v readVerdict) lists(name string, dir bool) bool {
	if v.read == nil {
		return true
	}
	name = v.read.foldName(name)
	if dir || v.read.deny.needsPath(name, v.path) || v.read.allow.needsPath(name, v.path) {
		v.path += "/" + name
	}
	v.check(name, v.path, belowRoot)
	return v.passes(dir)
}

// Values of the parameter below of check.
const atRoot, belowRoot = false, true

// check applies the rules for path, whose last name is name; below reports that it
// is neither a root nor above one.
func (v *readVerdict) check(name, path string, below bool) {
	r := v.read
	if !v.denied {
		v.pattern, v.denied = r.deny.match(name, path, below, true)
	}
	if !v.allowed && r.allows {
		_, v.allowed = r.allow.match(name, path, below && v.inside, v.inside)
	}
}

// mayRead reports whether the file may be read.
func (v readVerdict) mayRead() bool {
	return v.read == nil || !v.denied && (v.allowed || !v.read.allows)
}

// mayTraverse reports whether the directory may be traversed.
func (v readVerdict) mayTraverse() bool {
	return v.mayRead() || !v.denied && v.mayLeadToAllowed()
}

// passes is mayTraverse for a directory, and mayRead for a file.
func (v readVerdict) passes(dir bool) bool {
	if dir {
		return v.mayTraverse()
	}
	return v.mayRead()
}

// mayLeadToAllowed reports whether an entry below the directory may be allowed.
func (v readVerdict) mayLeadToAllowed() bool {
	allow := &v.read.allow
	if v.inside && len(allow.below)+len(allow.anywhere) > 0 {
		return true
	}
	return slices.ContainsFunc(allow.paths, func(p pathRule) bool { return (v.inside || !p.onlyInside) && p.mayMatchBelow(v.path) })
}

// refusal returns the error for a path that does not pass.
func (v readVerdict) refusal(path string) error { return &DeniedError{Path: path, Pattern: v.pattern} }
