//go:build unix

package workspace

import (
	"io/fs"
	"syscall"
)

// nonblock prevents the open of a FIFO from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

func sameName(a, b string) bool { return a == b }

// linked reports whether a file has more than one hard link. A directory's link count only
// reflects its subdirectories.
func linked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && !info.IsDir() && st.Nlink > 1
}
