//go:build unix

package keys

import "syscall"

// Nonblock prevents that opening a pipe waits for a writer.
const Nonblock = syscall.O_NONBLOCK
