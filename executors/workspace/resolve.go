package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm" // names in another Unicode form
)

// OutsideError reports that a path leads outside the roots.
type OutsideError struct {
	Path  string   // absolute, with symlinks resolved
	Given string   // as it was written
	Roots []string // the session's directories
}

// Error names the path and the roots.
func (e *OutsideError) Error() string {
	leads := ""
	if filepath.Clean(e.Given) != e.Path {
		leads = fmt.Sprintf(" (it leads to %s)", e.Path)
	}
	return fmt.Sprintf("%s%s is outside the session's directories %s",
		e.Given, leads, strings.Join(e.Roots, ", "))
}

// maxLinks limits the symlinks in one path. Linux allows 40, package filepath 255.
const maxLinks = 255

// Resolve converts a path from a model or a client to an absolute path without symlinks. "~" is the
// home directory, a relative path starts from the cwd, and "." and ".." are removed first. The path
// need not exist; symlinks are followed even if their target does not exist. The error is an
// *OutsideError for a path outside the roots, and a *AgentFileError for one of zeph-acp's own files.
// It is a *DeniedError for a file that must not be read. A name that does not exist stands for the
// same name in another Unicode form, if that exists.
func (r *Roots) Resolve(path string) (string, error) {
	abs, err := r.absolute(path)
	if err != nil {
		return "", err
	}
	if r.stats == nil {
		r = r.WithStats(&StatCache{})
	}
	resolved, err := r.stats.follow(abs)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	if err := r.check(resolved, path); err != nil {
		return "", err
	}
	return resolved, nil
}

// absolute makes a path absolute and clean. It keeps symlinks.
func (r *Roots) absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("the path %q contains a NUL", path)
	}
	abs, err := expandHome(path)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(r.dirs[0], abs)
	}
	abs = filepath.Clean(abs)
	return abs, r.checkWindowsPath(abs, path)
}

// check returns an error if resolved, the target of path, may not be used.
func (r *Roots) check(resolved, path string) error {
	if r.Hidden().Hides(resolved) {
		return &AgentFileError{Path: path}
	}
	if !r.Contains(resolved) && !r.read.allowsOutside(resolved) {
		return &OutsideError{Path: resolved, Given: path, Roots: r.Dirs()}
	}
	if pattern, refused := r.read.RefusesDir(resolved); refused { // Lstat checks files
		return &DeniedError{Path: path, Pattern: pattern}
	}
	return nil
}

// expandHome replaces a leading "~" that is alone or followed by a separator.
func expandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("expand %s: %w", path, err)
	}
	return filepath.Join(home, rest), nil
}

// follow replaces every symlink in an absolute path. Unlike
// filepath.EvalSymlinks it continues if a name does not exist, so that a dangling
// link shows where a file created through it would be.
func (c *StatCache) follow(path string) (string, error) {
	done, todo := splitRoot(path)
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := c.Lstat(next)
		switch {
		case Missing(err):
			twin, err := c.twin(done, name)
			if err != nil {
				return "", err
			}
			if twin != name {
				todo = append([]string{twin}, todo...)
				continue
			}
			done = next
			continue
		case err != nil: // a path with an unknown target may lead out of the roots
			return "", Cause(err)
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many symbolic links")
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", Cause(err)
		}
		var head []string
		if filepath.IsAbs(target) {
			done, head = splitRoot(target)
		} else {
			head = strings.Split(filepath.ToSlash(target), "/")
		}
		todo = append(head, todo...)
	}
	return done, nil
}

// twin returns the entry of dir with the missing name in another Unicode form, NFC or NFD; name if
// there is none. File systems of macOS take all forms for the same name, others do not.
func (c *StatCache) twin(dir, name string) (string, error) {
	var found []string
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if form.IsNormalString(name) {
			continue
		}
		other := form.String(name)
		if _, err := c.Lstat(filepath.Join(dir, other)); err == nil {
			found = append(found, other)
		}
	}
	switch len(found) {
	case 0:
		return name, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%+q could be %+q or %+q, two names in other Unicode forms", name, found[0], found[1])
}

// splitRoot splits an absolute path into its root directory and the names below.
func splitRoot(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), strings.Split(filepath.ToSlash(path[len(volume):]), "/")
}
