//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// openPrivate opens a file for this user alone. A link is refused, and nothing
// waits for the other end of a FIFO.
func openPrivate(name string, flag int) (*os.File, error) {
	return os.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// makePrivate makes the file 0600 if anybody else may read or write it.
func makePrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return f.Chmod(0o600)
}

// tryLock locks the file unless somebody has locked it. The lock is that of f,
// also within a process, and ends when f is closed.
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
