//go:build unix

package integration

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// alive reports whether the process runs. A zombie does not: in a container its
// parent may never wait for it.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || runtime.GOOS != "linux"
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}
