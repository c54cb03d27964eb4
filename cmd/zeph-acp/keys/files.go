package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir creates dir and its parents, readable for the user alone. Callers
// create a directory when they first write to it.
func MakeDir(dir string) error { return os.MkdirAll(dir, 0o700) }

// ReadPrivate reads a regular file. It makes the file private, or returns an
// error.
func ReadPrivate(file string) ([]byte, error) {
	if info, err := os.Lstat(file); err != nil {
		return nil, err
	} else if info.Mode()&fs.ModeSymlink != 0 {
		return nil, errors.New("is a link; want the file itself")
	}
	f, err := os.OpenFile(file, os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	if err := makePrivate(f, info); err != nil {
		return nil, fmt.Errorf("others may read or write it: %w", err)
	}
	return ReadBounded(f)
}

// OpenBelow opens a regular file below a directory that is not trusted: the file may be a
// link to somewhere else, a pipe without a writer, or endless. A directory that cannot be
// opened has no file, so that error is fs.ErrNotExist.
func OpenBelow(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Temporary returns the pattern of the temporary names that ReplaceFile uses.
func Temporary(name string) string { return "." + name + ".tmp-*" }

// ReplaceFile replaces the content of a file atomically: after a crash the file
// has either its old or its new content. Only the permitted users can read it.
func ReplaceFile(file string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), Temporary(filepath.Base(file))) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(mode.Perm()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	// The rename must survive a power failure, where directories can be synced.
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
	return nil
}

// WriteNew writes a new file: name, or the first free one of name.1, name.2 and
// so on.
func WriteNew(name string, data []byte, mode fs.FileMode) (file string, err error) {
	file = name
	for i := 1; ; i++ {
		err := CreateFile(file, data, mode)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		file = fmt.Sprintf("%s.%d", name, i)
	}
}

// EditFile replaces the content of a private file by the result of edit, while it holds the lock of
// the directory. It creates a missing directory. The argument of edit is nil if there is no file. A
// nil result removes the file, and an error leaves it unchanged.
func EditFile(file string, edit func(old []byte) ([]byte, error)) (err error) {
	dir := filepath.Dir(file)
	if err := MakeDir(dir); err != nil {
		return err
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	old, err := ReadPrivate(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := edit(old)
	if err != nil {
		return err
	}
	switch {
	case data != nil && bytes.Equal(data, old):
		return nil
	case data != nil:
		return ReplaceFile(file, data, 0o600)
	}
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CreateFile writes a file that must not exist yet.
func CreateFile(file string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(file)
	}
	return err
}

// MaxBytes is the largest size of a configuration file.
const MaxBytes = 1 << 20

// ReadBounded reads at most MaxBytes; a longer text is an error.
func ReadBounded(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(r, MaxBytes+1)); err != nil {
		return nil, err
	}
	if b.Len() > MaxBytes {
		return nil, fmt.Errorf("larger than %d bytes", MaxBytes)
	}
	return b.Bytes(), nil
}
