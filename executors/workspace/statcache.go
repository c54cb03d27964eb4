package workspace

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
)

// StatCache caches the results of lstat(2), so that one check examines each
// path once. Each check needs its own, since it has to see links that were made before it. The
// zero value is ready; a nil StatCache caches nothing. It is not for concurrent use.
type StatCache struct {
	seen map[string]seenPath
	// dirs are the directories in use; nil means that they are unknown. Lstat refuses a path
	// that leads away from them, see LeadsAway.
	dirs []string
}

type seenPath struct {
	info fs.FileInfo
	err  error
}

// Lstat is [os.Lstat].
func (c *StatCache) Lstat(path string) (fs.FileInfo, error) {
	if c == nil {
		return os.Lstat(path)
	}
	if s, ok := c.seen[path]; ok {
		return s.info, s.err
	}
	if why := LeadsAway(path, c.dirs); c.dirs != nil && why != "" {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: errors.New(why)}
	}
	info, err := os.Lstat(path)
	if c.seen == nil {
		c.seen = make(map[string]seenPath, 8) // enough for most files, in one piece of memory
	}
	c.seen[path] = seenPath{info, err}
	return info, err
}

// Use adds directories in use, so that Lstat may access their network shares.
func (c *StatCache) Use(dirs ...string) {
	for _, dir := range dirs {
		if runtime.GOOS == "windows" && !slices.Contains(c.dirs, dir) {
			c.dirs = append(c.dirs, dir)
		}
	}
}

// WithStats returns the same roots for one check: they examine each path once, and take one
// snapshot of the hidden files. They are not for concurrent use.
func (r *Roots) WithStats(stats *StatCache) *Roots {
	out := *r
	out.stats, out.hidden = stats, nil
	stats.Use(r.given...)
	stats.Use(r.dirs...)
	return &out
}

// HiddenWith is like [Roots.Hidden] for one check.
func (r *Roots) HiddenWith(stats *StatCache) *HiddenFiles { return r.WithStats(stats).Hidden() }
