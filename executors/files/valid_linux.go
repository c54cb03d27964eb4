package files

import (
	"io/fs"
	"syscall"
	"time"
)

// statusChanged is when anything of a file was last changed, which nobody can
// set back.
func statusChanged(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}
