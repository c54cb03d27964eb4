package audit

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openPrivate opens a file such that it can be renamed and removed while it is
// open, which os.OpenFile does not. Files in a user's profile are that user's.
func openPrivate(name string, flag int) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	access, create := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	switch {
	case flag&os.O_EXCL != 0:
		create = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		create = windows.OPEN_ALWAYS
	}
	share := uint32(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE)
	handle, err := windows.CreateFile(path, access, share, nil, create, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	// What is appended is written under the lock, at the end.
	return os.NewFile(uintptr(handle), name), nil
}

// makePrivate does nothing: files in a user's profile are that user's.
func makePrivate(*os.File) error { return nil }

// tryLock locks the file unless somebody has locked it. The lock is that of f,
// also within a process, and ends when f is closed. It is of a byte that no file
// has, since what is locked here cannot be read.
func tryLock(f *os.File) (locked bool, err error) {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
