//go:build unix && !linux

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// host identifies the scope of this process's pid.
func host() string {
	name, _ := os.Hostname()
	return name
}

// processAlive reports whether a process with this pid may exist.
func processAlive(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
