package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// MaxMemoryBytes limits the memory of each program that runs without a question.
// A program that reads a large project needs less, and with this limit the system stays usable.
const MaxMemoryBytes = 4 << 30

// maxProcessorSeconds limits the time of each program on a processor: one that left the session
// can outlive this process if that is killed.
const maxProcessorSeconds = 3600

// Limited returns a copy of the program with limits for the memory and the processor time of it and
// of each program that it starts, and for the size of each file that they write. Windows has none;
// macOS does not enforce the one for the memory.
//
// RLIMIT_DATA has counted all private writable memory since Linux 4.7. It does not count
// address space that a program only reserves, as Go, Java and node do. A shell sets it,
// since prlimit(2) could come after the program has started others. A program that fails for
// lack of memory would leave a large core dump.
func (prog Program) Limited() Program {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return prog
	}
	name, script := filepath.Base(prog.Path), len(prog.Args)-1
	if (name == "bash" || name == "sh") && script > 0 && prog.Args[script-1] == "-c" {
		prog.Args = slices.Clone(prog.Args)
		prog.Args[script] = setLimits(name) + prog.Args[script]
		return prog
	}
	if shell, err := exec.LookPath("sh"); err == nil {
		prog.Args = append([]string{"-c", setLimits("sh") + `exec "$@"`, "sh", prog.Path}, prog.Args...)
		prog.Path = shell
	}
	return prog
}

// setLimits begins a script of a shell with this name. Setting a limit fails if it is lower already.
func setLimits(shell string) string {
	unit := 512 // of a file's size, in POSIX
	if shell == "bash" {
		unit = 1024
	}
	return fmt.Sprintf("{ ulimit -c 0; ulimit -d %d; ulimit -f %d; ulimit -t %d; } 2>/dev/null; ", MaxMemoryBytes>>10, MaxTempBytes/unit, maxProcessorSeconds)
}
