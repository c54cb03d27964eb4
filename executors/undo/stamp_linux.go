package undo

import (
	"io/fs"
	"syscall"
)

// inodeChanged returns when the inode last changed, in nanoseconds. No program can
// set that time.
func inodeChanged(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim.Nano()
	}
	return 0
}
