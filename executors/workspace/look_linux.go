package workspace

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// tick is longer than the steps in which a kernel stamps changes.
const tick = 50 * time.Millisecond

// unchanged reports whether a directory has the entries that it had at a time. No
// program can set the time of its last change (inode(7)); a change within a tick of
// the one before it may leave that as it was.
func unchanged(before, now fs.FileInfo, at time.Time) bool {
	was, ok := changed(before)
	is, known := changed(now)
	return ok && known && os.SameFile(before, now) && is.Equal(was) && at.Sub(is) > tick
}

// changed returns the time of the last change; ok is false where it is kept in
// whole seconds.
func changed(info fs.FileInfo) (at time.Time, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return at, false
	}
	return time.Unix(stat.Ctim.Unix()), stat.Ctim.Nsec != 0
}
