package files

import (
	"io/fs"
	"os"
	"time"
)

// OnDisk is what an [FS] may be too. One that is not is taken for a client's
// buffers, which can change without a trace. Who embeds a Disk has to say anew.
type OnDisk interface {
	// ReadsDisk reports whether ReadFile gives what is on the disk.
	ReadsDisk() bool
}

// ReadsDisk is always true.
func (Disk) ReadsDisk() bool { return true }

// readsDisk reports whether the texts of files are those on the disk.
func (t *tools) readsDisk() bool {
	d, ok := t.fs.(OnDisk)
	return ok && d.ReadsDisk()
}

// settled is how long ago a file must have been changed for its times to tell
// of the next change: file systems count in steps of up to two seconds (FAT).
const settled = 2 * time.Second

// unchanged is for Result.Valid: it reports whether a path still leads to the
// same file or directory, and that is what it was when unchanged was called,
// which is before it was read. It is nil where that could not be told.
func (t *tools) unchanged(path string, tg target) func() bool {
	before, err := t.roots.Lstat(tg.abs)
	if err != nil || !before.IsDir() && !before.Mode().IsRegular() {
		return nil
	}
	if time.Since(before.ModTime()) < settled || time.Since(statusChanged(before)) < settled {
		return nil
	}
	return func() bool {
		now, err := t.directory(path)
		if err != nil || now.abs != tg.abs {
			return false
		}
		after, err := t.roots.Lstat(tg.abs)
		return err == nil && sameState(before, after)
	}
}

func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() &&
		a.ModTime().Equal(b.ModTime()) && statusChanged(a).Equal(statusChanged(b))
}
