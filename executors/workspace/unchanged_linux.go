package workspace

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// tick is longer than the granularity of the kernel's timestamps.
const tick = 50 * time.Millisecond

// unchanged reports whether a directory still has the entries that it had at a time. It compares
// the time of the inode's last change, which no program can set (inode(7)). A change within a tick
// after another one may not change that time.
func unchanged(before, now fs.FileInfo, at time.Time) bool {
	was, ok := changeTime(before)
	is, known := changeTime(now)
	return ok && known && os.SameFile(before, now) && is.Equal(was) && at.Sub(is) > tick
}

// changeTime returns the time of the last change; ok is false where it is kept in
// whole seconds.
func changeTime(info fs.FileInfo) (at time.Time, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return at, false
	}
	return time.Unix(stat.Ctim.Unix()), stat.Ctim.Nsec != 0
}
