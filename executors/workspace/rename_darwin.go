package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

func renameExclusive(a *os.File, name string, b *os.File, newName string) error {
	return unix.RenameatxNp(int(a.Fd()), name, int(b.Fd()), newName, unix.RENAME_EXCL)
}
