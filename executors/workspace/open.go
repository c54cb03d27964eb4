package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// IrregularError reports that a path is not a regular file, so that opening it
// could block, act on a device or follow a link.
type IrregularError struct {
	Path string // as the caller named it
	Mode fs.FileMode
}

// Error names the path and its file type.
func (e *IrregularError) Error() string {
	return fmt.Sprintf("%s is %s", e.Path, Describe(e.Mode))
}

// Describe returns the kind of file with its article, such as "a directory".
func Describe(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO (named pipe)"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

// Lstat describes the file at abs, a path from Resolve. It returns the errors of
// os.Lstat, or a *AgentFileError.
func (r *Roots) Lstat(abs string) (fs.FileInfo, error) {
	dir, name, err := r.Parent(abs)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Lstat(name)
}

// Open opens the regular file at abs, a path from Resolve, for reading. For
// anything else it returns an *IrregularError without opening it and without
// blocking. The caller closes the file.
func (r *Roots) Open(abs string) (*os.File, fs.FileInfo, error) {
	dir, name, err := r.Parent(abs)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	return dir.Open(name, os.O_RDONLY)
}

// errExchanged reports that another process replaced the file during the open.
var errExchanged = errors.New("it was replaced while it was opened")

// Open opens the regular file name; flag is os.O_RDONLY, os.O_WRONLY or os.O_RDWR. For
// anything else it returns an *IrregularError, even if that has just replaced a
// regular file. It never blocks. The caller closes the file.
func (d *Dir) Open(name string, flag int) (*os.File, fs.FileInfo, error) {
	before, err := d.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() { // opening a FIFO would wake its writer, which then gets SIGPIPE
		return nil, nil, &IrregularError{Path: name, Mode: before.Mode()}
	}
	return d.open(name, flag, before)
}

// open opens the file that before describes.
func (d *Dir) open(name string, flag int, before fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := d.root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	return d.hidden.check(f, before, name)
}

// Open opens the regular file at any path for reading; the last name must not be a
// link. For a hidden file it returns a *AgentFileError without opening it. The caller
// closes the file.
func (p *HiddenFiles) Open(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case p.Hides(path):
		return nil, &AgentFileError{Path: path}
	case !before.Mode().IsRegular():
		return nil, &IrregularError{Path: path, Mode: before.Mode()}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	f, _, err = p.check(f, before, path)
	return f, err
}

// check verifies that f is the regular file that before describes. It takes
// ownership of f if it fails.
func (p *HiddenFiles) check(f *os.File, before fs.FileInfo, name string) (*os.File, fs.FileInfo, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
	case p != nil && p.isHiddenFile(info):
		p.own.keepOpen(f)
		return nil, nil, &AgentFileError{Path: name}
	case !info.Mode().IsRegular():
		err = &IrregularError{Path: name, Mode: info.Mode()}
	case !os.SameFile(before, info):
		err = errExchanged
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
