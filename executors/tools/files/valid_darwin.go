package files

import (
	"io/fs"
	"syscall"
	"time"
)

// statusChanged returns when the data or the metadata of a file last changed.
// No program can set this time back.
func statusChanged(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctimespec.Unix())
}
