//go:build unix

package headless

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground reports whether this program may read the terminal: the system stops one
// in the background that does.
func inForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // an error: it is not a terminal
}
