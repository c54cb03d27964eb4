//go:build unix

package keys

import "syscall"

// Nonblock is the flag with which opening a pipe does not wait for a writer.
const Nonblock = syscall.O_NONBLOCK
