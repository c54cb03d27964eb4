// Package workspace confines file operations to the directories of a session.
//
// Start with [New] and [Roots.Resolve]: a path as a model or a client writes it
// becomes an absolute one without symlinks, or an [*OutsideError]. Open it with
// [Roots.Open] or a [Dir]: a symlink that replaces a directory between check and use
// is then not followed.
//
// It promises that no path it returns or opens lies outside of the roots, nor
// among zeph-acp's own files ([Own]): those are not even opened, by whatever
// name they are called. It judges no other path inside of the roots, and it
// cannot bound what a shell command does.
//
// Why is nothing kept open? Because a root may be deleted and made again while
// the session lives, and an idle session should cost nothing. Only a user who can
// change the directories above the outermost roots could exploit that.
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Roots are the directories of one session. They do not change after New, so
// all methods may be called concurrently.
type Roots struct {
	given []string // as the client wrote them, cleaned
	dirs  []string // the same without symlinks
	own   *Own     // what is hidden; nil means nothing
	read  *Readable
}

// New makes Roots of absolute directories that exist; the first is the session's
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

// With returns the same roots and further ones, for which [New] holds; the cwd
// stays. What was said of the roots with Reading has to be said again.
func (r *Roots) With(dirs ...string) (*Roots, error) {
	more, err := New(append([]string{r.dirs[0]}, dirs...)...)
	if err != nil {
		return nil, err
	}
	return &Roots{given: append(slices.Clone(r.given), more.given[1:]...), dirs: append(slices.Clone(r.dirs), more.dirs[1:]...), own: r.own}, nil
}

// Dirs lists the roots without symlinks; the first is the cwd.
func (r *Roots) Dirs() []string { return slices.Clone(r.dirs) }

// Cwd is the directory that relative paths start from.
func (r *Roots) Cwd() string { return r.dirs[0] }

// Contains reports whether abs, a path without symlinks, is a root or inside
// one.
func (r *Roots) Contains(abs string) bool {
	_, ok := r.root(abs)
	return ok
}

// Rel shortens abs for display: relative to the cwd if it lies inside, else as
// it is.
func (r *Roots) Rel(abs string) string {
	if rel, ok := within(r.dirs[0], abs); ok {
		return rel
	}
	return abs
}

// AsGiven spells abs, a path that Resolve returned, the way the client spelled
// the root it lies in. A client that opened a project through a symlink knows
// its files only by that name.
func (r *Roots) AsGiven(abs string) string {
	best := -1
	for i, dir := range r.dirs {
		if _, ok := within(dir, abs); ok && (best < 0 || len(dir) > len(r.dirs[best])) {
			best = i
		}
	}
	if best < 0 {
		return abs
	}
	rel, _ := within(r.dirs[best], abs)
	return filepath.Join(r.given[best], rel)
}

// root is the outermost root that abs lies in. The outermost, because a root
// inside another could itself be exchanged for a symlink by who writes in there.
func (r *Roots) root(abs string) (dir string, ok bool) {
	for _, d := range r.dirs {
		if _, in := within(d, abs); in && (!ok || len(d) < len(dir)) {
			dir, ok = d, true
		}
	}
	return dir, ok
}

// top is the directory to open for abs: its outermost root, or where what may be
// read outside of the roots begins.
func (r *Roots) top(abs string) (dir string, ok bool) {
	if dir, ok = r.root(abs); ok {
		return dir, true
	}
	return r.read.outside(abs)
}

// within returns path relative to dir, if it is dir or inside.
func within(dir, path string) (rel string, ok bool) {
	if sameName(path, dir) {
		return ".", true
	}
	prefix := dir
	if !os.IsPathSeparator(dir[len(dir)-1]) { // "/" and `C:\` end in one
		prefix += string(filepath.Separator)
	}
	if len(path) < len(prefix) || !sameName(path[:len(prefix)], prefix) {
		return "", false
	}
	rel = filepath.Clean(path[len(prefix):])
	return rel, filepath.IsLocal(rel)
}

// Cause returns err without the operation and the paths of an [os.PathError] or
// [os.LinkError], which a message names in its own way.
func Cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
