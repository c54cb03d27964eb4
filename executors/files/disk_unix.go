//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner of the file that it will replace, if permitted. In a
// container the agent often runs as root, and the user's files belong to another user.
func keepOwner(f *os.File, before fs.FileInfo) {
	if st, ok := before.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // without that permission the file already belongs to us
	}
}
