package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Piped is a running program whose streams belong to the caller, such as a server
// that speaks a protocol on them. It runs in its own session, like a [Process]. Its
// methods may be called concurrently. The owner calls End.
type Piped struct {
	Stdin          *os.File // the program reads what is written here
	Stdout, Stderr *os.File // what the program writes; read until they end

	process    *Process
	closeStdin sync.Once
	done       chan struct{} // closed when its session has ended
}

// StartPiped starts a program in its own session. It uses Path, Args, Env, Dir, Confine, AfterEnd,
// Temp and Reaper of prog. When the program ends, even by itself, the rest of its session is ended too.
func StartPiped(prog Program) (*Piped, error) {
	cmd := exec.Command(prog.Path, prog.Args...)
	cmd.Dir = prog.Dir
	cmd.Env = slices.Concat(prog.Env, []string{"PWD=" + prog.Dir})
	cmd.SysProcAttr = ownSession()
	p := &Process{cmd: cmd, exited: make(chan struct{}), temp: prog.Temp, reaper: prog.Reaper}
	readers, writers, err := pipes(3)
	if err != nil {
		p.removeTemp()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = readers[0], writers[1], writers[2]
	theirs, ours := []*os.File{readers[0], writers[1], writers[2]}, []*os.File{writers[0], readers[1], readers[2]}
	started := make(chan error)
	output := prog.Reaper.addPipe(writers[1], prog.Temp)
	goOnThread(func() { p.startAndWait(prog, output, started) })
	err = <-started
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		p.removeTemp()
		return nil, err
	}
	if prog.Confine != nil {
		endFirst(cmd.Process.Pid)
	}
	s := &Piped{Stdin: ours[0], Stdout: ours[1], Stderr: ours[2], process: p, done: make(chan struct{})}
	go s.supervise()
	return s, nil
}

// supervise ends the rest of the session after the program.
func (s *Piped) supervise() {
	<-s.process.exited
	endSession(s.process.cmd.Process.Pid)
	s.process.removeTemp()
	s.process.reaper.remove(strconv.Itoa(s.process.cmd.Process.Pid))
	// Every process of the session has exited, so reads end by themselves
	// unless a daemon holds the pipes.
	time.AfterFunc(drainTime, func() { stopWaiting([]*os.File{s.Stdout, s.Stderr}) })
	close(s.done)
}

// Done is closed when the program and its session have ended.
func (s *Piped) Done() <-chan struct{} { return s.done }

// Exit returns how the program ended. It may be called once Done is closed.
func (s *Piped) Exit() executors.Exit { return exitOf(s.process.cmd.ProcessState) }

// CloseStdin ends the input of the program.
func (s *Piped) CloseStdin() { s.closeStdin.Do(func() { _ = s.Stdin.Close() }) }

// End ends the program and its session, and waits for that. It closes stdin, sends
// SIGTERM to the session after step, and SIGKILL after twice that time.
func (s *Piped) End(step time.Duration) {
	s.CloseStdin()
	pid := s.process.cmd.Process.Pid
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-s.done:
			return
		case <-time.After(step):
			signalSession(pid, sig)
		}
	}
	select {
	case <-s.done:
	case <-time.After(grace): // stuck in the kernel: not even SIGKILL ends it now
	}
}

// Release closes the caller's ends of stdout and stderr, after they were read.
func (s *Piped) Release() { closeAll([]*os.File{s.Stdout, s.Stderr}) }
