//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner returns f the owner of the file that it will replace, where we may: in
// a container we are often root and the user's files are not.
func keepOwner(f *os.File, before fs.FileInfo) {
	if st, ok := before.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // who may not give files away made it as himself
	}
}
