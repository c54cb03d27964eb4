package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4" // globs with "**", which package path does not have
)

// ReadRules say what tools may read, list, search and copy. Deny always wins; an
// Allow that is not empty names all that may be read, also outside of the roots.
//
// A pattern is a doublestar glob with slashes, matched against the path without
// symlinks; what it says of a directory holds for everything below. One that
// begins with "/" or "~/" is absolute; one that begins with "**/" denies
// anywhere, and allows anywhere inside of the roots; one without a slash
// ("*.pem", "keys/") is for names at any depth below the roots, and denies
// outside of them too; any other ("src/**", "./a") is relative to each root.
//
// Letter case counts, except on macOS and Windows. A file is judged by the name
// it is read by: a hard link that has another name is another file.
type ReadRules struct {
	Deny, Allow []string
}

// DeniedError says that a file may not be read.
type DeniedError struct {
	Path    string // as the caller named it
	Pattern string // of Deny that names it; empty means that Allow does not
}

// Key is the setting that refuses the file.
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

// Bounds of one pattern: a glob costs time for each way in which its braces can
// be read.
const (
	maxPattern = 1024
	maxBraces  = 8
)

// CheckPattern returns an error that describes an invalid pattern of ReadRules.
func CheckPattern(pattern string) error {
	switch {
	case strings.Trim(pattern, "/") == "" && pattern != "/":
		return errors.New("an empty pattern")
	case len(pattern) > maxPattern || strings.Count(pattern, "{") > maxBraces:
		return fmt.Errorf("a pattern of more than %d bytes or %d braces", maxPattern, maxBraces)
	case strings.ContainsRune(pattern, 0):
		return fmt.Errorf("%q contains a NUL", pattern)
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("%q is not a valid glob; close each [ and {", pattern)
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		return fmt.Errorf("%q contains .., which no path without links has", pattern)
	case strings.HasPrefix(pattern, "~") && pattern != "~" && !strings.HasPrefix(pattern, "~/"):
		return fmt.Errorf("%q: only ~/ is a home directory; write [~] for a name that begins so", pattern)
	}
	return nil
}

// Readable is what ReadRules come to for the roots of one session. It does not
// change, so it may be used concurrently; a nil one refuses nothing.
type Readable struct {
	roots       *Roots
	deny, allow ruleSet
	allows      bool            // there is an allow list
	fold        bool            // names are compared without letter case
	tops        map[string]view // of the outermost roots
}

// Reading returns the same roots with rules for what may be read. Paths that the
// rules refuse get a *DeniedError from everything that resolves, looks, opens or
// lists; what an absolute pattern of Allow names outside of the roots can be
// read as if it were inside.
func (r *Roots) Reading(rules ReadRules) (*Roots, error) {
	read, err := rules.compile(r)
	if err != nil {
		return nil, err
	}
	out := *r
	out.read = read
	return &out, nil
}

// Writing returns the same roots without rules for reading: for changes of files
// that are not looked at.
func (r *Roots) Writing() *Roots {
	if r.read == nil {
		return r
	}
	out := *r
	out.read = nil
	return &out
}

// Readable returns the rules for what may be read, nil if there are none.
func (r *Roots) Readable() *Readable { return r.read }

func (rules ReadRules) compile(roots *Roots) (*Readable, error) {
	if len(rules.Deny) == 0 && len(rules.Allow) == 0 {
		return nil, nil
	}
	r := &Readable{roots: roots, allows: len(rules.Allow) > 0, fold: foldNames, tops: map[string]view{}}
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
		r.tops[top] = r.rootView(top)
	}
	return r, nil
}

// Refuses reports whether the file at abs, an absolute path without links, may
// not be read; pattern is the one of Deny that names it. It need not exist.
func (r *Readable) Refuses(abs string) (pattern string, refused bool) {
	return r.refuses(abs, false)
}

// RefusesDir is Refuses for a directory: one that is not allowed itself may
// still be gone through to what is.
func (r *Readable) RefusesDir(abs string) (pattern string, refused bool) {
	return r.refuses(abs, true)
}

func (r *Readable) refuses(abs string, dir bool) (pattern string, refused bool) {
	if r == nil {
		return "", false
	}
	v := r.view(abs)
	return v.pattern, !v.passes(dir)
}

// outside returns the directory to open for abs, which is in no root but may be
// read or gone through.
func (r *Readable) outside(abs string) (dir string, ok bool) {
	if r == nil || !r.allows {
		return "", false
	}
	v := r.view(abs)
	if !v.passes(true) {
		return "", false
	}
	for i := range r.allow.paths {
		p := &r.allow.paths[i]
		from := p.from
		if p.literal {
			from = from[:max(0, strings.LastIndexByte(from, '/'))]
		}
		if p.inside || !isBelow(from, v.path) || !v.allowed && !p.leads(v.path) {
			continue
		}
		dir = abs // as it is written; the rule has it as it is compared
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
	return ok && r.view(abs).passes(false)
}

// view is what the rules say of a file or directory; the zero view is of no
// rules.
type view struct {
	read    *Readable
	path    string // slash-separated, as the rules see it; "" is "/"
	inside  bool   // it is in a root
	denied  bool
	pattern string // that denies it, or something above it
	allowed bool
}

// view judges a path by itself and by what is above it.
func (r *Readable) view(abs string) view {
	if top, ok := r.roots.root(abs); ok {
		v := r.tops[top]
		rel, _ := within(top, abs)
		for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
			if name != "." {
				v = v.enter(name, true)
			}
		}
		return v
	}
	if parent := filepath.Dir(abs); parent != abs {
		return r.view(parent).enter(filepath.Base(abs), true)
	}
	v := view{read: r, path: strings.TrimSuffix(r.slashed(abs), "/")}
	v.judge("", v.path, false)
	return v
}

// rootView judges a root. What is said of names below the roots does not hold
// for it.
func (r *Readable) rootView(dir string) view {
	v := view{read: r, inside: true}
	for i, name := range strings.Split(strings.TrimSuffix(r.slashed(dir), "/"), "/") {
		if i > 0 {
			v.path += "/"
		}
		v.path += name // the first is empty, or a volume
		v.judge(name, v.path, false)
	}
	return v
}

// enter returns the view of what is called name in a directory. Of what is no
// directory the path may be left out.
func (v view) enter(name string, dir bool) view {
	if v.read == nil {
		return v
	}
	name = v.read.name(name)
	if dir || v.read.deny.needsPath(name, v.path) || v.read.allow.needsPath(name, v.path) {
		v.path += "/" + name
	}
	v.judge(name, v.path, true)
	return v
}

// judge takes in what the rules say of path, whose last name is name; below
// means that it is not a root or above one.
func (v *view) judge(name, path string, below bool) {
	r := v.read
	if !v.denied {
		v.pattern, v.denied = r.deny.match(name, path, below, true)
	}
	if !v.allowed && r.allows {
		_, v.allowed = r.allow.match(name, path, below && v.inside, v.inside)
	}
}

// passes reports whether it may be read or, as a directory, be gone through.
func (v view) passes(dir bool) bool {
	if v.read == nil {
		return true
	}
	return !v.denied && (v.allowed || !v.read.allows || dir && v.leads())
}

// leads reports whether something below may be allowed.
func (v view) leads() bool {
	allow := &v.read.allow
	if v.inside && len(allow.below)+len(allow.anywhere) > 0 {
		return true
	}
	return slices.ContainsFunc(allow.paths, func(p pathRule) bool { return (v.inside || !p.inside) && p.leads(v.path) })
}

// refusal is the error for what does not pass.
func (v view) refusal(path string) error { return &DeniedError{Path: path, Pattern: v.pattern} }
