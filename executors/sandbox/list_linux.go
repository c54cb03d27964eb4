package sandbox

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// child is one entry of a directory as getdents64(2) reports it, without a stat
// of the file.
type child struct {
	name string
	ino  uint64 // of a mount point: the inode number of the directory below it
	kind byte   // DT_DIR and so on; DT_UNKNOWN is resolved
}

// listDir reads a directory without following links.
func listDir(path string, buf []byte) (fileID, []child, error) {
	fd, err := openDir(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return fileID{}, nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fileID{}, nil, err
	}
	var all []child
	for {
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fileID{}, nil, err
		}
		if n <= 0 {
			return fileIDOf(&st), all, nil
		}
		all = parseChildren(buf[:n], all)
		for i := range all {
			if all[i].kind == unix.DT_UNKNOWN {
				all[i].kind = kindAt(fd, all[i].name)
			}
		}
	}
}

// Offsets in struct linux_dirent64, which is the same on every architecture.
const (
	lengthOffset = 16
	kindOffset   = 18
	nameOffset   = 19
)

// parseChildren appends the entries in a result of getdents64(2).
func parseChildren(buf []byte, all []child) []child {
	for len(buf) >= nameOffset {
		length := int(binary.NativeEndian.Uint16(buf[lengthOffset:]))
		if length < nameOffset || length > len(buf) {
			return all
		}
		name, _, _ := bytes.Cut(buf[nameOffset:length], []byte{0})
		if s := string(name); s != "." && s != ".." {
			all = append(all, child{name: s, ino: binary.NativeEndian.Uint64(buf), kind: buf[kindOffset]})
		}
		buf = buf[length:]
	}
	return all
}

func kindAt(dir int, name string) byte {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return unix.DT_UNKNOWN
	}
	return byte((st.Mode & unix.S_IFMT) >> 12) // as IFTODT
}
