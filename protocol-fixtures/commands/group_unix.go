//go:build unix

package commands

import (
	"os/exec"
	"syscall"
)

// wholeGroup starts the command in a process group of its own. A cancel kills the group.
func wholeGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
