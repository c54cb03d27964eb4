// Package workspace restricts file access to the directories of a session.
//
// Start with [New] and [Roots.Resolve], which turns a path from a model or a client into an
// absolute one without symlinks, or returns an [*OutsideError]. Open the result with [Roots.Open]
// or a [Dir]: then a symlink that replaces a directory between check and use does not lead out of
// the roots.
//
// No path that the package returns or opens lies outside the roots. It does not return zeph-acp's
// own files ([AgentFiles]), nor open them under any name. The package restricts no other path inside the
// roots, and it cannot restrict a shell command.
//
// No directory is kept open between calls: a root may be deleted and created again during the
// session, and an idle session should cost nothing. Only someone who can change the directories
// above the outermost roots could exploit this.
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Roots are the directories of one session. They are immutable, so all methods may
// be called concurrently, except on the result of [Roots.WithStats].
type Roots struct {
	given    []string    // as the client wrote them, cleaned
	dirs     []string    // the same without symlinks
	own      *AgentFiles // hidden files; nil hides nothing
	read     *Readable
	ruleName func(string) string // see WithRuleNames; nil changes nothing

	stats  *StatCache   // of WithStats; else nil
	hidden *HiddenFiles // the snapshot of that check; nil until it is needed
}

// New returns Roots of existing absolute directories; the first is the session's
// cwd.
func New(dirs ...string) (*Roots, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no directory to work in")
	}
	r := &Roots{}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("directory %q is not an absolute path", dir)
		}
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("directory %s: %w", dir, Cause(err))
		}
		info, err := os.Stat(resolved)
		if err != nil {
			return nil, fmt.Errorf("directory %s: %w", dir, Cause(err))
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", dir)
		}
		r.given = append(r.given, filepath.Clean(dir))
		r.dirs = append(r.dirs, resolved)
	}
	return r, nil
}

// With returns the same roots and further ones, which must be as for [New]; the cwd
// stays. The rules of Reading are dropped and must be set again.
func (r *Roots) With(dirs ...string) (*Roots, error) {
	more, err := New(append([]string{r.dirs[0]}, dirs...)...)
	if err != nil {
		return nil, err
	}
	return &Roots{given: append(slices.Clone(r.given), more.given[1:]...),
		dirs: append(slices.Clone(r.dirs), more.dirs[1:]...), own: r.own}, nil
}

// WithRuleNames returns the same roots for rules of Reading that use other names: ruleName
// returns the name for an absolute path. It must be called before Reading.
func (r *Roots) WithRuleNames(ruleName func(path string) string) *Roots {
	out := *r
	out.ruleName = ruleName
	return &out
}

// nameInRules returns the name that rules use for a path.
func (r *Roots) nameInRules(abs string) string {
	if r.ruleName == nil {
		return abs
	}
	return r.ruleName(abs)
}

// Dirs returns the roots without symlinks; the first is the cwd.
func (r *Roots) Dirs() []string { return slices.Clone(r.dirs) }

// Cwd returns the directory that relative paths start from.
func (r *Roots) Cwd() string { return r.dirs[0] }

// Contains reports whether abs, a path without symlinks, is a root or inside
// one.
func (r *Roots) Contains(abs string) bool {
	_, ok := r.root(abs)
	return ok
}

// Rel shortens abs for display: it is relative to the cwd if it lies inside, and
// unchanged otherwise.
func (r *Roots) Rel(abs string) string {
	if rel, ok := relative(r.dirs[0], abs); ok {
		return rel
	}
	return abs
}

// AsGiven returns abs, a path that Resolve returned, with the root spelled as the
// client did. A client that opened a project through a symlink recognizes its files
// only by that name.
func (r *Roots) AsGiven(abs string) string {
	dir, rel := r.Innermost(abs)
	i := slices.Index(r.dirs, dir)
	if i < 0 {
		return abs
	}
	return filepath.Join(r.given[i], rel)
}

// root returns the outermost root that contains abs. Anyone who may write to an outer
// root could replace an inner root by a symlink.
func (r *Roots) root(abs string) (dir string, ok bool) {
	for _, d := range r.dirs {
		if _, in := relative(d, abs); in && (!ok || len(d) < len(dir)) {
			dir, ok = d, true
		}
	}
	return dir, ok
}

// Top returns the directory to open for abs: its outermost root, or the topmost
// directory that may be read outside the roots.
func (r *Roots) Top(abs string) (dir string, ok bool) {
	if dir, ok = r.root(abs); ok {
		return dir, true
	}
	return r.read.outside(abs)
}

// Within reports whether path is dir or below it. Both are absolute. Symbolic links are not
// followed.
func Within(dir, path string) bool {
	if dir == "" {
		return false
	}
	_, ok := relative(filepath.Clean(dir), filepath.Clean(path))
	return ok
}

// relative returns path relative to dir, if it is dir or inside.
func relative(dir, path string) (rel string, ok bool) {
	if sameName(path, dir) {
		return ".", true
	}
	prefix := dir
	if !os.IsPathSeparator(dir[len(dir)-1]) { // "/" and `C:\` end in a separator
		prefix += string(filepath.Separator)
	}
	if len(path) < len(prefix) || !sameName(path[:len(prefix)], prefix) {
		return "", false
	}
	rel = filepath.Clean(path[len(prefix):])
	return rel, filepath.IsLocal(rel)
}

// Cause returns err without the operation and the paths of an [os.PathError] or
// [os.LinkError], for messages that name the path themselves.
func Cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
