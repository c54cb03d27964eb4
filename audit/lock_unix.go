//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// openPrivate opens a file for this user alone. It refuses links, and does not wait
// for the other end of a FIFO.
func openPrivate(name string, flag int) (*os.File, error) {
	return os.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// makePrivate sets the mode 0600 if other users may read or write the file.
func makePrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return f.Chmod(0o600)
}

// tryLock locks the file unless it is locked already, and reports whether it
// did. The lock belongs to f, even within a process, and ends when f is closed.
func tryLock(f *os.File) (locked bool, err error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}
