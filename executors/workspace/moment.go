package workspace

import (
	"io/fs"
	"os"
)

// Moment remembers the answers of lstat(2), so that the parts of one judgement look at
// each path once. It lasts for that judgement only: links that are made afterwards must
// be seen by the next. The zero value is ready; a nil one remembers nothing. It is not
// for concurrent use.
type Moment struct{ seen map[string]seenPath }

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
	info, err := os.Lstat(path)
	if m.seen == nil {
		m.seen = make(map[string]seenPath, 8) // enough for most files, in one piece of memory
	}
	m.seen[path] = seenPath{info, err}
	return info, err
}

// At returns the same roots for one judgement: they look at each path once, and take one
// snapshot of the hidden files. They are not for concurrent use.
func (r *Roots) At(now *Moment) *Roots {
	out := *r
	out.moment, out.private = now, nil
	return &out
}

// PrivateAt is like [Roots.Private] for one judgement.
func (r *Roots) PrivateAt(now *Moment) *Private { return r.At(now).Private() }
