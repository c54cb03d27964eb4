//go:build unix

package app

import "syscall"

// openNonblock keeps opening a pipe from waiting for a writer.
const openNonblock = syscall.O_NONBLOCK
