//go:build unix

package keys

import (
	"io/fs"
	"os"
	"syscall"
)

// makePrivate makes the file 0600 if others may read or write it.
func makePrivate(f *os.File, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return f.Chmod(0o600)
}

// lockDir waits until no other process has locked the directory, and locks it.
// The lock ends with the process at the latest.
func lockDir(dir string) (unlock func() error, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		d.Close()
		return nil, &fs.PathError{Op: "lock", Path: dir, Err: err}
	}
	return d.Close, nil
}
