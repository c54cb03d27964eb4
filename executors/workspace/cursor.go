package workspace

import (
	"path/filepath"
	"strings"
)

// Cursor opens the directories of many paths, one path after the other. It keeps the last directory
// open, so that paths in the order of a walk are cheap: otherwise each path would need a step per
// level from the root. A Cursor is valid for one pass, since it does not notice that its directory
// was replaced. It is not for concurrent use.
type Cursor struct {
	roots *Roots
	dir   *Dir // the last directory; nil before the first path
}

// Cursor returns a Cursor with one snapshot of the hidden files. The caller closes it.
func (r *Roots) Cursor() *Cursor { return &Cursor{roots: r.WithStats(&StatCache{})} }

// Parent is like [Roots.Parent]. The directory is open until the next call.
func (c *Cursor) Parent(abs string) (dir *Dir, name string, err error) {
	at, name := split(abs)
	if c.dir != nil {
		if rel, ok := relative(c.dir.abs, at); ok {
			dir, err = c.dir.below(rel)
			return c.keep(dir, name, err)
		}
	}
	dir, name, err = c.roots.Parent(abs)
	return c.keep(dir, name, err)
}

// keep makes dir the last directory, unless it could not be opened.
func (c *Cursor) keep(dir *Dir, name string, err error) (*Dir, string, error) {
	if err != nil {
		return nil, name, err
	}
	if dir != c.dir {
		c.Close()
		c.dir = dir
	}
	return dir, name, nil
}

// Close closes the directory that is open.
func (c *Cursor) Close() {
	if c.dir != nil {
		c.dir.Close()
		c.dir = nil
	}
}

// below opens the directory rel below d, one name after the other. For "." it returns
// d itself.
func (d *Dir) below(rel string) (*Dir, error) {
	at := d
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if name == "." {
			break
		}
		next, err := at.Sub(name)
		if at != d {
			at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}
