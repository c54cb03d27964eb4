package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockWait is how long to wait for a process that holds the lock. A process
// holds it for some microseconds, unless it was stopped meanwhile.
const lockWait = 5 * time.Second

// append writes one line, to a new file if the log would exceed its limit. The
// caller holds l.mu.
func (l *Log) append(body []byte) error {
	for {
		moved := false
		err := l.withLock(func(f *os.File) error {
			size, err := f.Seek(0, io.SeekEnd)
			if err != nil {
				return err
			}
			// Other processes wait for the lock of this file, and then find that it
			// was moved. The first line of the new file follows the last hash of this
			// one. If the file cannot be moved, it keeps growing.
			if l.maxBytes > 0 && size > 0 && size+int64(len(body)) > l.maxBytes {
				moved = os.Rename(l.file, l.older()) == nil
			}
			if moved {
				return nil
			}
			return l.write(f, size, body)
		})
		if err != nil || !moved {
			return err
		}
	}
}

// older returns the path of the previous log, which became too large.
func (l *Log) older() string { return l.file + ".1" }

// write appends one line to the locked log, whose size is size.
func (l *Log) write(f *os.File, size int64, body []byte) error {
	prev, torn, err := l.lastHash(f, size)
	if err != nil {
		return err
	}
	line := seal(body, prev)
	if torn {
		line = append([]byte("\n"), line...)
	}
	if _, err := f.Write(line); err != nil {
		return errors.Join(err, f.Truncate(size)) // never leave half a line
	}
	return nil
}

// withLock calls do with the log open and locked, and creates the log if necessary.
// It opens the log each time, since another process may have moved or removed it.
func (l *Log) withLock(do func(*os.File) error) error {
	const flags = os.O_RDWR | os.O_APPEND | os.O_CREATE
	err := l.withLockAs(flags, do)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
			return err
		}
		err = l.withLockAs(flags, do)
	}
	return err
}

// withLockAs calls do with the log locked, and opened with these flags.
func (l *Log) withLockAs(flags int, do func(*os.File) error) error {
	for {
		f, err := openPrivate(l.file, flags)
		if err != nil {
			return err
		}
		current, err := l.lock(f)
		if err == nil && current && flags != os.O_RDONLY {
			err = makePrivate(f)
		}
		if err == nil && current {
			err = do(f)
		}
		if closeErr := f.Close(); err == nil { // and release the lock
			err = closeErr
		}
		if err != nil || current {
			return err
		}
	}
}

// lock waits for the lock of a file that was opened as the log. It reports
// whether the file is still the log: the process that held the lock may have
// moved it.
func (l *Log) lock(f *os.File) (current bool, err error) {
	start := time.Now()
	for wait := 20 * time.Microsecond; ; wait = min(2*wait, 5*time.Millisecond) {
		locked, err := tryLock(f)
		if err != nil {
			return false, &fs.PathError{Op: "lock", Path: l.file, Err: err}
		}
		if locked {
			break
		}
		if time.Since(start) > lockWait {
			return false, fmt.Errorf("%s: another process holds its lock for too long", l.file)
		}
		time.Sleep(wait)
	}
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	onDisk, err := os.Lstat(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !onDisk.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", l.file)
	}
	return os.SameFile(opened, onDisk), nil
}

// lastHash returns the hash of the last whole line of the log, or of the previous log if this
// log has none. torn reports that the log ends with a partial line, because the process or the
// machine died during the write.
func (l *Log) lastHash(f *os.File, size int64) (hash string, torn bool, err error) {
	if hash, torn, err = lastHashIn(f, size); hash != "" || err != nil {
		return hash, torn, err
	}
	old, err := openPrivate(l.older(), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return "", torn, nil
	}
	if err != nil {
		return "", torn, err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return "", torn, err
	}
	hash, _, err = lastHashIn(old, info.Size())
	return hash, torn, err
}

// lastHashIn returns the hash of the last whole line in the first size bytes of a file,
// and whether they end without a newline. The hash is "" if there is no whole line
// near the end.
func lastHashIn(f *os.File, size int64) (hash string, torn bool, err error) {
	for _, window := range []int64{int64(tailLen) + 1, 4 * maxLine} {
		end := make([]byte, min(window, size))
		if _, err := f.ReadAt(end, size-int64(len(end))); err != nil && len(end) > 0 {
			return "", false, err
		}
		torn = len(end) > 0 && !bytes.HasSuffix(end, []byte("\n"))
		if !torn {
			end = end[:max(len(end)-1, 0)]
		}
		for {
			if hash, ok := ownHash(end); ok {
				return hash, torn, nil
			}
			i := bytes.LastIndexByte(end, '\n')
			if i < 0 {
				break
			}
			end = end[:i]
		}
	}
	return "", torn, nil
}
