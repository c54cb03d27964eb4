package keys

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// makePrivate does nothing: files in a user's profile are private to that user.
func makePrivate(*os.File, fs.FileInfo) error { return nil }

// lockDir waits until no other process has locked the directory, and locks it.
// The lock ends with the process at the latest.
func lockDir(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, FileName+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: dir, Err: err}
	}
	return f.Close, nil
}
