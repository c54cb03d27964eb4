//go:build unix

package shell

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// exitOf tells how a process ended.
func exitOf(s *os.ProcessState) executors.Exit {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return executors.Exit{Signal: signalName(ws.Signal())}
	}
	code := s.ExitCode()
	return executors.Exit{Code: &code}
}

func signalName(sig syscall.Signal) string {
	if name, ok := signals[sig]; ok {
		return name
	}
	return fmt.Sprintf("signal %d", int(sig))
}

var signals = map[syscall.Signal]string{
	syscall.SIGABRT: "SIGABRT", syscall.SIGALRM: "SIGALRM", syscall.SIGBUS: "SIGBUS",
	syscall.SIGFPE: "SIGFPE", syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL",
	syscall.SIGINT: "SIGINT", syscall.SIGIO: "SIGIO", syscall.SIGKILL: "SIGKILL",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGPROF: "SIGPROF", syscall.SIGQUIT: "SIGQUIT",
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGSYS: "SIGSYS", syscall.SIGTERM: "SIGTERM",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2",
	syscall.SIGVTALRM: "SIGVTALRM", syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)

// stopWaiting has reads of files, pipes all, end as soon as they would wait.
func stopWaiting(files []*os.File) {
	for _, f := range files {
		f.SetReadDeadline(longAgo)
	}
}

// readRest reads what is in a pipe, without waiting.
func readRest(f *os.File, buf []byte, sink func(chunk []byte)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	for range maxRest {
		n := 0
		err := conn.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
		if err != nil || n <= 0 {
			return
		}
		sink(buf[:n])
	}
}
