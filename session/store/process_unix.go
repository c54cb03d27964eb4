//go:build unix && !linux

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// host names where a pid of ours means something.
func host() string {
	name, _ := os.Hostname()
	return name
}

// alive says whether there may be a process with that pid.
func alive(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
