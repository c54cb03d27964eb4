package copies

import (
	"os"

	"golang.org/x/sys/windows"
)

const nonblock = 0

// tryLock reports whether it could lock a file. The lock ends when f is closed, or with
// the process.
func tryLock(f *os.File) bool {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)) == nil
}
