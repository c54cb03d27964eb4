package process

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/zeph-acp/zeph-acp/executors"
)

func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func helperSession() *syscall.SysProcAttr { return ownSession() }

func onMainThread() bool { return false }

// dropPtrace does nothing: on Windows the owner of a process decides who may open it.
func dropPtrace() (hadPtrace bool, err error) { return false, nil }

// signalSession ends the program with all its children, unless sig is 0. It
// reports whether the program was alive. Windows has no polite signal. Children
// that outlived the program are not found.
func signalSession(pid int, sig syscall.Signal) bool {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer syscall.CloseHandle(h)
	if ev, err := syscall.WaitForSingleObject(h, 0); err != nil || ev == syscall.WAIT_OBJECT_0 {
		return false
	}
	if sig != 0 {
		exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() // the next call reports the result
	}
	return true
}

func exitOf(s *os.ProcessState) executors.Exit {
	code := s.ExitCode()
	return executors.Exit{Code: &code}
}

// Status returns the exit status that a shell reports for exit.
func Status(exit executors.Exit) int {
	if exit.Code != nil {
		return *exit.Code
	}
	return 128
}

// removedBytes returns 0: an open file cannot be removed.
func removedBytes(int, string) int64 { return 0 }

// pipeName and writersTo do nothing: the writers to a pipe cannot be listed here.
func pipeName(*os.File) string { return "" }
func writersTo(string) []int   { return nil }

// newReadFunc prepares to read files.
func newReadFunc(files []*os.File) readFunc {
	return func(ctx context.Context, sink func(int, []byte)) { readEach(ctx, files, sink) }
}

// stopWaiting ends all reads of files: pipes have no deadlines here.
func stopWaiting(files []*os.File) { closeAll(files) }

// readBuffered reads nothing: the file is closed.
func readBuffered(*os.File, []byte, func([]byte)) {}

// Interrupt does nothing: a program without a console gets no Ctrl-C.
func (p *Process) Interrupt() {}
