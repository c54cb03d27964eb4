package process

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// removedBytes returns the size of the files on the disk of temp that no directory contains any
// more, but that the session of pid holds open or mapped. Each file counts once.
func removedBytes(pid int, temp string) (total int64) {
	var disk syscall.Stat_t
	if syscall.Stat(temp, &disk) != nil {
		return 0
	}
	known := map[uint64]bool{}
	for _, member := range sessionMembers(pid) {
		dir := "/proc/" + strconv.Itoa(member)
		for _, kind := range []string{"fd", "map_files"} { // the second only as root
			names, err := readNames(filepath.Join(dir, kind))
			if err != nil {
				continue
			}
			for _, name := range names {
				var st syscall.Stat_t
				if syscall.Stat(filepath.Join(dir, kind, name), &st) != nil || st.Dev != disk.Dev ||
					st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Nlink > 0 || known[st.Ino] {
					continue
				}
				known[st.Ino] = true
				total += st.Blocks*512 + entryBytes
			}
		}
	}
	return total
}

// sessionMembers returns the living processes of a session.
func sessionMembers(sid int) (pids []int) {
	names, _ := readNames("/proc")
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && inSession(pid, sid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
