//go:build unix

package machine

import "syscall"

// setUmask sets the umask that the modes of files in tests assume.
func setUmask() { syscall.Umask(0o022) }
