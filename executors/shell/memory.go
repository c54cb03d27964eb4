package shell

import (
	"fmt"
	"runtime"
)

// maxMemoryKiB limits the memory of each program in a command that runs without a question.
// A program that reads a large project needs less, and with this limit the system stays usable.
const maxMemoryKiB = 4 << 20

// WithLimitedMemory returns the command with a limit for the memory of each of its programs.
// Only Linux enforces it.
//
// RLIMIT_DATA has counted all private writable memory since Linux 4.7. It does not count
// address space that a program only reserves, as Go, Java and node do. The shell sets it,
// since prlimit(2) could come after the shell has started a program. A program that fails for
// lack of memory would leave a large core dump.
func (c Command) WithLimitedMemory() Command {
	if runtime.GOOS == "linux" {
		c.Line = fmt.Sprintf("{ ulimit -c 0; ulimit -d %d; } 2>/dev/null; %s", maxMemoryKiB, c.Line) // fails if a limit is lower already
	}
	return c
}
