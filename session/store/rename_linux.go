package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix" // a rename that replaces nothing, which os lacks
)

// renameNew renames a file, and fails if a file has the new name already. A hard link
// would do the same, but a process killed right after it leaves both names.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		return os.Link(from, to)
	}
	return err
}
