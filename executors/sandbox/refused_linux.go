package sandbox

import (
	"sync"

	"golang.org/x/sys/unix"
)

// refusedFiles records the refused files, so that a command which renames one does
// not make it readable to the next command. It lives as long as the sandbox.
type refusedFiles struct {
	mu    sync.Mutex
	files map[fileID]birthTime
	inos  map[uint64]bool // inode numbers of files, which a directory lists without a stat of each
}

// birthTime is the creation time of a file. It distinguishes the file from a later
// one with the same inode number. It is zero if the file system does not record
// it.
type birthTime struct {
	sec  int64
	nsec uint32
}

// maxRefusedFiles bounds the recorded files. Each file of a refused directory counts.
const maxRefusedFiles = 200_000

// add records the file at path, and reports whether it is new.
func (m *refusedFiles) add(path string) bool {
	i, b, ok := fileIDAndBirth(path)
	if !ok {
		return false
	}
	if old, known := m.files[i]; known && old == b || len(m.files) >= maxRefusedFiles {
		return false
	}
	if m.files == nil {
		m.files, m.inos = map[fileID]birthTime{}, map[uint64]bool{}
	}
	m.files[i], m.inos[i.Ino] = b, true
	return true
}

// contains reports whether the file at path was refused under any name.
func (m *refusedFiles) contains(path string, ino uint64) bool {
	if !m.inos[ino] {
		return false
	}
	i, b, ok := fileIDAndBirth(path)
	old, known := m.files[i]
	return !ok || known && old == b
}

func fileIDAndBirth(path string) (fileID, birthTime, bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return fileID{}, birthTime{}, false
	}
	i := fileID{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}
	if st.Mask&unix.STATX_BTIME == 0 {
		return i, birthTime{}, true
	}
	return i, birthTime{st.Btime.Sec, st.Btime.Nsec}, true
}
