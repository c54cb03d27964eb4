package workspace

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix" // openat and getdents; package os adds further system calls
)

// Branch is an open directory of a walk. It lists, descends and reads with the same
// guarantees as [Dir] and a third of the system calls. It may be used
// concurrently, but listed only once.
type Branch struct {
	fd      int
	abs     string
	rel     string
	hidden  *HiddenFiles
	linked  bool // a hidden file has further hard links
	rules   dirRules
	verdict readVerdict
}

// Branch opens the directory again, for a walk. The caller closes it.
func (d *Dir) Branch() (*Branch, error) {
	f, err := d.root.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return &Branch{fd: fd, abs: d.abs, rel: d.rel, hidden: d.hidden, linked: d.hidden.Linked(), rules: d.rules, verdict: d.verdict}, nil
}

// Close closes the directory.
func (b *Branch) Close() error { return os.NewSyscallError("close", unix.Close(b.fd)) }

// Rel returns the same as [Dir.Rel].
func (b *Branch) Rel() string { return b.rel }

// openat opens the entry name of this directory; it does not follow a link.
func (b *Branch) openat(name string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Openat(b.fd, name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// checkPlainName refuses names that lead to another directory.
func checkPlainName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return &fs.PathError{Op: "openat", Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// Sub opens the directory name. The caller closes it.
func (b *Branch) Sub(name string) (*Branch, error) {
	sub := &Branch{
		abs: filepath.Join(b.abs, name), rel: path.Join(b.rel, name),
		hidden: b.hidden, linked: b.linked, verdict: b.verdict.enter(name),
	}
	switch err := checkPlainName(name); {
	case err != nil:
		return nil, err
	case b.rules.hides(name):
		return nil, &AgentFileError{Path: name}
	case !sub.verdict.mayTraverse():
		return nil, sub.verdict.refusal(name)
	}
	var err error
	if sub.fd, err = b.openat(name, unix.O_DIRECTORY); err != nil {
		return nil, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	if b.hidden == nil {
		return sub, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(sub.fd, &st); err != nil {
		sub.Close()
		return nil, &fs.PathError{Op: "fstat", Path: name, Err: err}
	}
	if sub.rules = b.hidden.rulesIn(sub.abs, nil, sameInode(&st)); sub.rules.hidden {
		sub.Close()
		return nil, &AgentFileError{Path: name}
	}
	return sub, nil
}

// sameInode reports whether st belongs to the given file.
func sameInode(st *unix.Stat_t) func(fs.FileInfo) bool {
	return func(info fs.FileInfo) bool {
		known, ok := info.Sys().(*syscall.Stat_t)
		return ok && known.Dev == st.Dev && known.Ino == st.Ino
	}
}

// Read returns the content of the regular file name, using the memory of buf. For
// anything else it returns an *IrregularError; it never blocks. For a file of more
// than maxBytes it returns only the size.
func (b *Branch) Read(name string, buf []byte, maxBytes int) (data []byte, size int64, err error) {
	if err := b.mayRead(name); err != nil {
		return buf, 0, err
	}
	fd, err := b.openat(name, 0)
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			return buf, 0, &IrregularError{Path: name, Mode: fs.ModeSymlink}
		}
		return buf, 0, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && b.hidden.hasFile(sameInode(&st)) {
		b.hidden.own.keepOpen(os.NewFile(uintptr(fd), name))
		return buf, 0, &AgentFileError{Path: name}
	}
	defer unix.Close(fd)
	switch {
	case err != nil:
		return buf, 0, &fs.PathError{Op: "fstat", Path: name, Err: err}
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return buf, 0, &IrregularError{Path: name, Mode: typeOf(st.Mode)}
	case st.Size > int64(maxBytes):
		return buf, st.Size, nil
	}
	data, err = readAll(buf, st.Size, int64(maxBytes), func(p []byte) (int, error) {
		for {
			n, err := unix.Read(fd, p)
			if !errors.Is(err, unix.EINTR) {
				return n, err
			}
		}
	})
	if err != nil {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, int64(len(data)), err
}

// mayRead checks a file before it is opened. A file with several hard links may
// be a hidden one, and a hidden file must stay open once it is open.
func (b *Branch) mayRead(name string) error {
	if err := checkPlainName(name); err != nil {
		return err
	}
	if b.rules.hides(name) {
		return &AgentFileError{Path: name}
	}
	if v := b.verdict.enter(name); !v.mayRead() {
		return v.refusal(name)
	}
	if !b.linked {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(b.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "fstatat", Path: name, Err: err}
	}
	if b.hidden.hasFile(sameInode(&st)) {
		return &AgentFileError{Path: name}
	}
	return nil
}

// listing is the buffer of one List.
type listing struct {
	buf   [32 << 10]byte
	names []byte
	ends  []listedName
}

type listedName struct {
	end int // end of its name in names
	typ fs.FileMode
}

var listings = sync.Pool{New: func() any { return new(listing) }}

// List returns all entries in no particular order. It leaves out and counts
// zeph-acp's own files and those that may not be read. It does not detect a hidden
// directory; only Sub does.
func (b *Branch) List(ctx context.Context) (entries []Entry, omitted Omitted, err error) {
	l := listings.Get().(*listing)
	defer listings.Put(l)
	l.names, l.ends = l.names[:0], l.ends[:0]
	for {
		if ctx.Err() != nil {
			return nil, omitted, context.Cause(ctx)
		}
		n, err := unix.Getdents(b.fd, l.buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, omitted, &fs.PathError{Op: "getdents", Path: b.rel, Err: err}
		}
		if n <= 0 {
			break
		}
		b.parse(l, l.buf[:n])
	}
	names := string(l.names) // one allocation for all names
	entries = make([]Entry, 0, len(l.ends))
	from := 0
	for _, at := range l.ends {
		name := names[from:at.end]
		from = at.end
		switch dir := at.typ.IsDir(); {
		case b.rules.hides(name):
			omitted.Hidden++
		case !b.verdict.lists(name, dir):
			omitted.Denied++
		default:
			entries = append(entries, Entry{Name: name, Type: at.typ})
		}
	}
	return entries, omitted, nil
}

// parse adds the entries in a buffer that getdents64(2) filled.
func (b *Branch) parse(l *listing, buf []byte) {
	const inode, length, kind, text = 0, 16, 18, 19 // offsets in struct linux_dirent64
	for len(buf) > text {
		size := int(binary.NativeEndian.Uint16(buf[length:]))
		if size <= text || size > len(buf) {
			return
		}
		rec := buf[:size]
		buf = buf[size:]
		name, _, _ := bytes.Cut(rec[text:], []byte{0})
		if binary.NativeEndian.Uint64(rec[inode:]) == 0 || string(name) == "." || string(name) == ".." {
			continue
		}
		typ, ok := entryType(rec[kind])
		if !ok {
			var st unix.Stat_t
			if unix.Fstatat(b.fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue // gone
			}
			typ = typeOf(st.Mode)
		}
		l.names = append(l.names, name...)
		l.ends = append(l.ends, listedName{len(l.names), typ})
	}
}

// entryType returns the type of an entry; ok is false if the file system does not
// report it.
func entryType(kind byte) (typ fs.FileMode, ok bool) {
	if kind == unix.DT_UNKNOWN {
		return 0, false
	}
	return typeOf(uint32(kind) << 12), true // the type is S_IFMT >> 12
}

// typeOf returns the type bits of a mode of stat(2).
func typeOf(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFBLK:
		return fs.ModeDevice
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}
