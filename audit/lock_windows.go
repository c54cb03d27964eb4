package audit

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openPrivate opens a file that can be renamed and removed while it is open, unlike
// os.OpenFile. Files in a user's profile are private to that user.
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
	// Data is appended under the lock, at the end.
	return os.NewFile(uintptr(handle), name), nil
}

// makePrivate does nothing: files in a user's profile are private to that user.
func makePrivate(*os.File) error { return nil }

// tryLock locks the file unless it is locked already, and reports whether it did.
// The lock belongs to f, even within a process, and ends when f is closed. It
// covers a byte beyond the end of every file, since locked bytes cannot be read.
func tryLock(f *os.File) (locked bool, err error) {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
