//go:build unix

package workspace

import "syscall"

// nonblock keeps an open of a FIFO from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

func sameName(a, b string) bool { return a == b }
