package headless

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTyped discards input that was typed but not read.
func discardTyped(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH) // no terminal: nothing was typed
}
