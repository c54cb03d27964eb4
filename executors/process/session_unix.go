//go:build unix

package process

import (
	"fmt"
	"os"
	"syscall"

	"github.com/zeph-acp/zeph-acp/executors"
)

// exitOf returns how a process ended.
func exitOf(s *os.ProcessState) executors.Exit {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return executors.Exit{Signal: signalName(ws.Signal())}
	}
	code := s.ExitCode()
	return executors.Exit{Code: &code}
}

// Status returns the exit status that a shell reports for exit: 128 + N after signal N.
func Status(exit executors.Exit) int {
	if exit.Code != nil {
		return *exit.Code
	}
	for sig, name := range signals {
		if name == exit.Signal {
			return 128 + int(sig)
		}
	}
	return 128
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

// Interrupt sends SIGINT to every process of the session, as Ctrl-C does in a terminal. Windows
// has nothing like it.
func (p *Process) Interrupt() { signalSession(p.cmd.Process.Pid, syscall.SIGINT) }
