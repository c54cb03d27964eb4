package copies

import (
	"errors"
	"io/fs"
	"os"
)

// lockNew makes a file and locks it. It returns nil if another process was faster.
func lockNew(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if tryLock(f) && isAt(f, path) {
		return f, nil
	}
	return nil, f.Close() // another process removed it as a leftover
}

// lockAbandoned locks the file of a copy, and reports whether its process has ended.
func lockAbandoned(path string) (f *os.File, free bool, err error) {
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, false, err
	}
	if tryLock(f) && isAt(f, path) {
		return f, true, nil
	}
	return nil, false, f.Close()
}

// isAt reports whether a path still leads to an open file.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}
