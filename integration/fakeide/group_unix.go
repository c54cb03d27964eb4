//go:build unix

package fakeide

import (
	"os/exec"
	"syscall"
)

// OwnGroup makes the command the leader of a process group.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the process group of the command.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// signalOf returns the name of the signal that ended the command, if one did.
func signalOf(cmd *exec.Cmd) string {
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
