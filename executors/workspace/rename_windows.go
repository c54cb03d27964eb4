package workspace

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/windows"
)

// CrossDevice reports whether a rename failed because the two directories are on
// different devices, or in different roots.
func CrossDevice(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// renameNew renames inside the outermost root that contains both directories:
// Windows has no rename between two open directories.
func renameNew(from *Dir, name string, to *Dir, newName string) error {
	if from.top != to.top {
		return windows.ERROR_NOT_SAME_DEVICE
	}
	if err := to.checkVacant(newName); err != nil {
		return err
	}
	top, err := os.OpenRoot(from.top)
	if err != nil {
		return err
	}
	defer top.Close()
	return top.Rename(path.Join(from.rel, name), path.Join(to.rel, newName))
}
