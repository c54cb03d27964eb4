//go:build unix

package keys

import "syscall"

// Nonblock keeps opening a pipe from waiting for a writer.
const Nonblock = syscall.O_NONBLOCK
