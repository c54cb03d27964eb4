//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner changes the owner of f to the owner of the file that f will replace, if the
// system permits it. In a container the agent often runs as root, and the files belong to
// another user.
func keepOwner(f *os.File, before fs.FileInfo) {
	if st, ok := before.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // without that permission the file already belongs to us
	}
}
