package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// host identifies the scope of this process's pid. Containers that share a
// database may have the same name, but each has its own pids. The result stays the same
// even if the machine is renamed.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, _ := os.Readlink("/proc/self/ns/pid")
	return name + " " + strings.TrimSpace(string(boot)) + " " + pids
})

// processAlive reports whether the process can still run; a zombie cannot.
func processAlive(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // PID (NAME) STATE ..., where NAME is arbitrary
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(rest) == 0 || rest[0] != 'Z' && rest[0] != 'X'
}
