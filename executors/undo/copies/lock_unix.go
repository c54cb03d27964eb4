//go:build unix

package copies

import (
	"os"
	"syscall"
)

// nonblock keeps the opening of a FIFO from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// tryLock reports whether it could lock a file. The lock ends when f is closed, or with
// the process.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
