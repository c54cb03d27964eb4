//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"runtime"
)

// Available returns the ABI of the kernel's Landlock; 0 comes with the reason
// why there is none.
func Available() (abi int, reason string) {
	return 0, fmt.Sprintf("there is no sandbox for %s yet, only for Linux", runtime.GOOS)
}

// Main runs the helper that [Arg] starts on Linux.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, marker+"there is no sandbox for this system")
	return exitCode
}

func newRules(int, bool) *rules { return &rules{} }

func (s *Sandbox) plan() commandPlan { return commandPlan{} }

type refusedFiles struct{}

type outsideGrants struct{}

func (s *Sandbox) removeTempDir() error { return nil }
