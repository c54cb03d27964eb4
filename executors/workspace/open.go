package workspace

import (
	"fmt"
	"io/fs"
	"os"
)

// IrregularError says that something is neither a regular file nor a directory,
// so that opening it could block or act on a device.
type IrregularError struct {
	Path string // as the caller named it
	Mode fs.FileMode
}

// Error names the path and what is there.
func (e *IrregularError) Error() string {
	return fmt.Sprintf("%s is %s", e.Path, Describe(e.Mode))
}

// Describe names the kind of file with its article, such as "a directory".
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

// At opens the outermost root that abs, a path from Resolve, lies in, and gives
// the path relative to it: all further work on abs belongs there, where no
// symlink leads out. The caller closes the root.
func (r *Roots) At(abs string) (root *os.Root, rel string, err error) {
	dir, ok := r.root(abs)
	if !ok {
		return nil, "", &OutsideError{Path: abs, Given: abs, Roots: r.Dirs()}
	}
	rel, _ = within(dir, abs)
	if root, err = os.OpenRoot(dir); err != nil {
		return nil, "", err
	}
	return root, rel, nil
}

// Lstat tells what is at abs, a path from Resolve. Errors are those of os.Lstat.
func (r *Roots) Lstat(abs string) (fs.FileInfo, error) {
	root, rel, err := r.At(abs)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Lstat(rel)
}

// Open opens the regular file or directory at abs, a path from Resolve, for
// reading. Anything else gets an *IrregularError, without being opened and
// without waiting for it. The caller closes the file.
func (r *Roots) Open(abs string) (*os.File, fs.FileInfo, error) {
	root, rel, err := r.At(abs)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	info, err := root.Lstat(rel) // opening a FIFO would wake its writer, who then gets SIGPIPE
	if err != nil {
		return nil, nil, err
	}
	if m := info.Mode(); !m.IsRegular() && !m.IsDir() && m&fs.ModeSymlink == 0 {
		return nil, nil, &IrregularError{Path: abs, Mode: m}
	}
	return OpenIn(root, rel, os.O_RDONLY)
}

// OpenIn opens name, a regular file or directory, inside of an open directory;
// flag is os.O_RDONLY or os.O_WRONLY. What is neither gets an *IrregularError,
// also if it took the place of a file a moment ago; nothing is waited for.
func OpenIn(dir *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := dir.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &IrregularError{Path: name, Mode: info.Mode()}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
