//go:build unix && !linux

package process

import (
	"context"
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func apart() *syscall.SysProcAttr { return ownSession() }

// shield does nothing: no process of these systems opens the files of another.
func shield() (had bool, err error) { return false, nil }

// signalSession sends sig, unless it is 0, to the process group that the program
// leads, and reports whether any process was alive. Other groups of the session
// cannot be listed without cgo.
func signalSession(pid int, sig syscall.Signal) bool { return syscall.Kill(-pid, sig) == nil }

// pipeName and writersTo do nothing: the writers to a pipe cannot be listed here.
func pipeName(*os.File) string { return "" }
func writersTo(string) []int   { return nil }

// watch prepares to read files.
func watch(files []*os.File) readFunc {
	return func(ctx context.Context, sink func(int, []byte)) { readEach(ctx, files, sink) }
}
