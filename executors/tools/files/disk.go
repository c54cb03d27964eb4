package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Disk is the FS for clients without file methods. It opens only regular files
// inside the roots, even if symlinks are replaced meanwhile. The rules for
// reading apply to ReadFile alone.
type Disk struct {
	Roots    *workspace.Roots // required
	MaxBytes int              // the largest file that is read; 0 means any size
}

// ReadFile reads a regular file of at most MaxBytes.
func (d Disk) ReadFile(ctx context.Context, path string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	f, info, err := d.Roots.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if d.MaxBytes > 0 && info.Size() > int64(d.MaxBytes) {
		return "", d.tooLarge(path)
	}
	var text strings.Builder
	text.Grow(int(info.Size()) + 1)
	// It may grow meanwhile, and /proc has no sizes.
	n, err := io.CopyBuffer(&text, d.limit(f), make([]byte, min(32<<10, max(512, info.Size()+1))))
	switch {
	case err != nil:
		return "", err
	case d.MaxBytes > 0 && n > int64(d.MaxBytes):
		return "", d.tooLarge(path)
	}
	return text.String(), nil
}

func (d Disk) limit(r io.Reader) io.Reader {
	if d.MaxBytes == 0 {
		return r
	}
	return io.LimitReader(r, int64(d.MaxBytes)+1)
}

func (d Disk) tooLarge(path string) error {
	return executors.Failuref(executors.PermanentFailure, "%s is larger than the limit of %s",
		executors.OneLine(d.Roots.Rel(path)), quantity.Count(d.MaxBytes, "byte")).
		Hint("Page through it with read, or process it with bash.")
}

// WriteFile replaces the file in one step: a reader sees the old content or the new
// one, even after a crash. A file that has several names, is a mount point, or is in a
// directory that cannot be written, is overwritten instead. WriteFile creates missing
// directories.
func (d Disk) WriteFile(ctx context.Context, path, text string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dir, err := d.Roots.Writing().MakeDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(path)
	before, err := writable(dir, name)
	if err != nil {
		return err
	}
	overwrite := func() error { return dir.Overwrite(name, strings.NewReader(text), int64(len(text))) }
	if before != nil && workspace.Linked(before) {
		return overwrite()
	}
	created := false
	err = dir.ReplaceNew(name, ".zeph-"+rand.Text()+".tmp", func(temp string) error {
		f, err := createTemp(dir, temp, before)
		if created = err == nil; !created {
			return err
		}
		return fill(f, text, before)
	})
	if before != nil && !created && workspace.Irreplaceable(err) {
		return overwrite()
	}
	return err
}

// writable returns the info of the regular file at name, nil if there is no file.
// It refuses a read-only file, although it could be replaced.
func writable(dir *workspace.Dir, name string) (fs.FileInfo, error) {
	f, info, err := dir.Open(name, os.O_WRONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// createTemp creates the file temp, which will replace before.
func createTemp(dir *workspace.Dir, temp string, before fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if before != nil {
		mode = 0o600 // until the mode of the replaced file is set
	}
	return dir.Create(temp, mode)
}

// fill writes a new file with the mode and owner of before, and closes it.
func fill(f *os.File, text string, before fs.FileInfo) error {
	defer f.Close()
	if before != nil {
		keepOwner(f, before)
		if err := f.Chmod(before.Mode().Perm()); err != nil {
			return err
		}
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return f.Close()
}
