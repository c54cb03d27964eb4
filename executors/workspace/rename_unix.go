//go:build unix

package workspace

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix" // renameat between two open directories, which os.Root lacks
)

// CrossDevice reports whether a rename failed because the two directories are on
// different devices.
func CrossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// renameNew renames without replacing an existing file, if the file system supports
// that. Otherwise a file that is created at the same moment is replaced.
func renameNew(from *Dir, name string, to *Dir, newName string) error {
	a, err := from.root.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.root.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	err = renameExclusive(a, name, b, newName)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	if err := to.checkVacant(newName); err != nil {
		return err
	}
	return renameAt(a, name, b, newName)
}

func renameAt(a *os.File, name string, b *os.File, newName string) error {
	return unix.Renameat(int(a.Fd()), name, int(b.Fd()), newName)
}
