package workspace

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
)

// Moment caches the results of lstat(2), so that one judgement examines each path once. It must not
// be used for another judgement, which has to see links that were made in between. The zero value
// is ready; a nil Moment caches nothing. It is not for concurrent use.
type Moment struct {
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
func (m *Moment) Lstat(path string) (fs.FileInfo, error) {
	if m == nil {
		return os.Lstat(path)
	}
	if s, ok := m.seen[path]; ok {
		return s.info, s.err
	}
	if why := LeadsAway(path, m.dirs); m.dirs != nil && why != "" {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: errors.New(why)}
	}
	info, err := os.Lstat(path)
	if m.seen == nil {
		m.seen = make(map[string]seenPath, 8) // enough for most files, in one piece of memory
	}
	m.seen[path] = seenPath{info, err}
	return info, err
}

// Use adds directories in use, so that Lstat may access their network shares.
func (m *Moment) Use(dirs ...string) {
	for _, dir := range dirs {
		if runtime.GOOS == "windows" && !slices.Contains(m.dirs, dir) {
			m.dirs = append(m.dirs, dir)
		}
	}
}

// At returns the same roots for one judgement: they examine each path once, and take one
// snapshot of the hidden files. They are not for concurrent use.
func (r *Roots) At(now *Moment) *Roots {
	out := *r
	out.moment, out.private = now, nil
	now.Use(r.given...)
	now.Use(r.dirs...)
	return &out
}

// PrivateAt is like [Roots.Private] for one judgement.
func (r *Roots) PrivateAt(now *Moment) *Private { return r.At(now).Private() }
