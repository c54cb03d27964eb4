//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"runtime"
)

// Available tells the ABI of the kernel's Landlock, or 0 and why there is none.
func Available() (abi int, reason string) {
	return 0, fmt.Sprintf("there is none for %s yet, only for Linux", runtime.GOOS)
}

// ReadOnly returns nil: only Linux can hold commands to reading.
func ReadOnly() func(temp string) error { return nil }

// Main is what [Arg] starts on Linux.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, marker+"there is none for this system")
	return ExitCode
}

func handled(int, bool) *rules { return &rules{} }

func (s *Sandbox) plan() planned { return planned{} }

type memory struct{}

type outside struct{}
