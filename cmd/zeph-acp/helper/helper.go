// Package helper runs the helper processes that zeph-acp starts from its own binary: the
// sandbox of a command and the reaper.
package helper

import (
	"crypto/rand"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
)

// reaperArg begins the first argument of a process that this binary starts for a
// process.Reaper. The rest is random, so that no script ends it by its name.
const reaperArg = "__reaper-"

// Enter runs a helper of another zeph-acp if this process was started as one:
// the sandbox of a command, which then becomes the command, or the reaper. Helpers
// are not cobra commands, to keep their start fast.
func Enter() {
	if len(os.Args) < 2 {
		return
	}
	switch arg := os.Args[1]; {
	case arg == sandbox.Arg:
		os.Exit(sandbox.Main(os.Args[2:]))
	case arg == sandbox.BoxArg:
		HideMemory()
		os.Exit(sandbox.BoxMain(os.Args[2:], NewReaper()))
	case strings.HasPrefix(arg, reaperArg):
		HideMemory()
		process.Reap(os.Stdin)
		os.Exit(0)
	}
}

// NewReaper returns the reaper of this process. The first command starts the
// reaper's process.
func NewReaper() *process.Reaper {
	return &process.Reaper{Command: func() *exec.Cmd {
		path := "/proc/self/exe" // as it was started, even if another file has its name now
		if runtime.GOOS != "linux" {
			path, _ = os.Executable() // else nothing starts
		}
		cmd := exec.Command(path)
		cmd.Args = []string{os.Args[0], reaperArg + strings.ToLower(rand.Text())}
		cmd.Dir = "/"
		cmd.Env = []string{"GOMAXPROCS=1"} // it needs neither keys nor speed
		return cmd
	}}
}
