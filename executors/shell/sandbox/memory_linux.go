package sandbox

import (
	"sync"

	"golang.org/x/sys/unix"
)

// memory keeps which files were refused, so that a command which renames one
// does not make it readable to the next. It is the sandbox's, for as long as
// that lives.
type memory struct {
	mu    sync.Mutex
	files map[id]born
	inos  map[uint64]bool // of files: what a directory tells without a look
}

// born is when a file was made, which keeps it apart from a later one that got
// its number. Where the file system does not know, it is zero for both.
type born struct {
	sec  int64
	nsec uint32
}

// maxMemory bounds the memory; the files of a refused directory count one by
// one.
const maxMemory = 200_000

// add notes what is at path, and reports whether that is new.
func (m *memory) add(path string) bool {
	i, b, ok := identify(path)
	if !ok {
		return false
	}
	if old, known := m.files[i]; known && old == b || len(m.files) >= maxMemory {
		return false
	}
	if m.files == nil {
		m.files, m.inos = map[id]born{}, map[uint64]bool{}
	}
	m.files[i], m.inos[i.Ino] = b, true
	return true
}

// knows reports whether what is at path was refused under any name.
func (m *memory) knows(path string, ino uint64) bool {
	if !m.inos[ino] {
		return false
	}
	i, b, ok := identify(path)
	old, known := m.files[i]
	return !ok || known && old == b
}

func identify(path string) (id, born, bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return id{}, born{}, false
	}
	i := id{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}
	if st.Mask&unix.STATX_BTIME == 0 {
		return i, born{}, true
	}
	return i, born{st.Btime.Sec, st.Btime.Nsec}, true
}
