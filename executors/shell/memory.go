package shell

import (
	"fmt"
	"runtime"

	"github.com/zeph-acp/zeph-acp/executors/shell/process"
)

// maxMemoryKiB limits the memory of each program in a command that runs without a question.
// A program that reads a large project needs less, and with this limit the system stays usable.
const maxMemoryKiB = 4 << 20

// maxProcessorSeconds limits the time of each program on a processor: one that leaves the
// session with setsid(2) is not ended with the command.
const maxProcessorSeconds = 3600

// WithLimits returns the command with limits for the memory and the processor time of each of its
// programs, and for the size of each file that they write. Only Linux enforces them.
//
// RLIMIT_DATA has counted all private writable memory since Linux 4.7. It does not count
// address space that a program only reserves, as Go, Java and node do. The shell sets it,
// since prlimit(2) could come after the shell has started a program. A program that fails for
// lack of memory would leave a large core dump.
func (c Command) WithLimits() Command {
	if runtime.GOOS == "linux" {
		c.Line = fmt.Sprintf("{ ulimit -c 0; ulimit -d %d; ulimit -f %d; ulimit -t %d; } 2>/dev/null; %s", maxMemoryKiB, process.MaxTempBytes>>10, maxProcessorSeconds, c.Line) // fails if a limit is lower already
	}
	return c
}
