package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Linked reports whether a file has another name, a hard link, that keeps the previous
// content if the file is replaced.
func Linked(info fs.FileInfo) bool { return linked(info) }

// Irreplaceable reports whether err, of an attempt to replace a file, leaves [Dir.Overwrite]
// as the way to change it: the file is a mount point, or its directory cannot be written.
func Irreplaceable(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// Overwrite writes size bytes of content into the regular file name, which stays the same
// file: for mount points and hard links. Another process may see a part of it. If writing
// fails, as on a full disk, the file has its previous content again. Until all is written,
// a copy of that is next to the file, or in the directory for temporary files; it stays
// there after a crash, and an error names it if the file could not be restored.
func (d *Dir) Overwrite(name string, content io.ReaderAt, size int64) error {
	f, info, err := d.Open(name, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	previous, err := d.copyAside(f, name)
	if err != nil {
		return fmt.Errorf("copying the previous content: %w", err)
	}
	defer previous.Close()
	err = fill(f, content, size, info.Size())
	if err != nil {
		if restoreErr := fill(f, previous, info.Size(), 0); restoreErr != nil {
			return fmt.Errorf("%w; the previous content is in %s", errors.Join(err, restoreErr), previous.path)
		}
	}
	return errors.Join(err, previous.remove(), f.Close())
}

// fill makes content the content of f, which has old bytes. What is beyond these comes
// first: it alone needs space on the disk, so that the old bytes are still there without it.
func fill(f *os.File, content io.ReaderAt, size, old int64) error {
	old = min(old, size)
	for _, part := range []struct{ from, to int64 }{{old, size}, {0, old}} {
		if _, err := io.Copy(io.NewOffsetWriter(f, part.from), io.NewSectionReader(content, part.from, part.to-part.from)); err != nil {
			return err
		}
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

// aside is a copy of a file's previous content.
type aside struct {
	*os.File
	path   string
	remove func() error
}

// copyAside copies a file next to it, or else to the directory for temporary files.
func (d *Dir) copyAside(f *os.File, name string) (aside, error) {
	beside := "." + name + ".zeph-" + rand.Text()[:8]
	file, err := d.createReadable(beside)
	a := aside{file, filepath.Join(d.abs, beside), func() error { return d.Remove(beside) }}
	if err == nil {
		if err = a.fill(f); err == nil {
			return a, nil
		}
	}
	file, otherErr := os.CreateTemp("", "zeph-*-"+name)
	if otherErr != nil {
		return aside{}, errors.Join(err, otherErr)
	}
	a = aside{file, file.Name(), func() error { return os.Remove(file.Name()) }}
	if otherErr = a.fill(f); otherErr != nil {
		return aside{}, errors.Join(err, otherErr)
	}
	return a, nil
}

// createReadable creates a file like Create, for reading too.
func (d *Dir) createReadable(name string) (*os.File, error) {
	if err := d.mayCreate(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// fill copies a file into a, and removes a if that fails.
func (a aside) fill(from *os.File) error {
	_, err := io.Copy(a.File, from)
	if err == nil {
		err = a.Sync()
	}
	if err != nil {
		a.Close()
		_ = a.remove()
		_, _ = from.Seek(0, io.SeekStart) // for the next attempt
	}
	return err
}

// overwriteFrom writes content and mode of the regular file temp into name.
func (d *Dir) overwriteFrom(name, temp string) error {
	f, info, err := d.Open(temp, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.Overwrite(name, f, info.Size()); err != nil {
		return err
	}
	if now, err := d.Lstat(name); err == nil && now.Mode() == info.Mode() {
		return nil
	}
	return d.Chmod(name, info.Mode().Perm())
}
