package files

import (
	"io/fs"
	"os"
	"time"
)

// ReadsDisk is always true.
func (Disk) ReadsDisk() bool { return true }

// stableAge is how old a change must be to differ in time from the next change.
// File systems store times in steps of up to two seconds (FAT).
const stableAge = 2 * time.Second

// unchanged returns a function for Result.Valid. It reports whether path still
// leads to the same unchanged file or directory. Call unchanged before the
// read. The result is nil if this cannot be decided.
func (t *tools) unchanged(path string, tg target) func() bool {
	info, err := t.roots.Lstat(tg.abs)
	return t.unchangedSince(path, stattedTarget{tg, info, err})
}

// unchangedSince is unchanged for a target whose state is known.
func (t *tools) unchangedSince(path string, at stattedTarget) func() bool {
	before := at.info
	if at.err != nil || !before.IsDir() && !at.isFile() {
		return nil
	}
	if time.Since(before.ModTime()) < stableAge || time.Since(statusChanged(before)) < stableAge {
		return nil
	}
	return func() bool {
		now, err := t.directory(path)
		if err != nil || now.abs != at.abs {
			return false
		}
		after, err := t.roots.Lstat(at.abs)
		return err == nil && sameState(before, after)
	}
}

func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() &&
		a.ModTime().Equal(b.ModTime()) && statusChanged(a).Equal(statusChanged(b))
}
