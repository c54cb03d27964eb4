//go:build unix && !linux

package process

import (
	"context"
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func helperSession() *syscall.SysProcAttr { return ownSession() }

func onMainThread() bool { return false }

// dropPtrace does nothing: no process of these systems opens the files of another.
func dropPtrace() (hadPtrace bool, err error) { return false, nil }

// signalSession sends sig, unless it is 0, to the process group that the program
// leads, and reports whether any process was alive. Other groups of the session
// cannot be listed without cgo.
func signalSession(pid int, sig syscall.Signal) bool { return syscall.Kill(-pid, sig) == nil }

// pipeName and writersTo do nothing: the writers to a pipe cannot be listed here.
func pipeName(*os.File) string { return "" }
func writersTo(string) []int   { return nil }

// removedBytes returns 0: the open files of another process cannot be listed here.
func removedBytes(int, string) int64 { return 0 }

// newReadFunc prepares to read files.
func newReadFunc(files []*os.File) readFunc {
	return func(ctx context.Context, sink func(int, []byte)) { readEach(ctx, files, sink) }
}
