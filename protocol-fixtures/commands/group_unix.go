//go:build unix

package commands

import (
	"os/exec"
	"syscall"
)

// wholeGroup returns a command a process group of its own, and ends all of it.
func wholeGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
