//go:build unix

package workspace

import (
	"fmt"
	"io/fs"
	"syscall"
)

// nonblock prevents the open of a FIFO from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

func sameName(a, b string) bool { return a == b }

// LinkID identifies a file that has more than one hard link: its names have the same LinkID. It
// is "" for any other file.
func LinkID(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !linked(info) {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// linked reports whether a file has more than one hard link. A directory's link count only
// reflects its subdirectories.
func linked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && !info.IsDir() && st.Nlink > 1
}
