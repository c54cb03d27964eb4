package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Reaper ends the sessions of programs that [Start] started if this process
// dies before it can, for example by kill -9. The kernel ends a program with
// its parent, but not the children of the program.
//
// It is a second process, which starts with the first program. It reads the
// running sessions from a pipe. The pipe ends only when this process dies or
// calls Close; the reaper then kills the remaining sessions.
//
// A session has no number before its program runs. On a busy machine the program can
// start children before this process registers that number. So the output pipe of the
// program is registered first, and the sessions of its writers are killed.
//
// A nil Reaper does nothing. The methods may be called concurrently.
type Reaper struct {
	// Command starts this binary so that it calls [Reap] with its stdin.
	Command func() *exec.Cmd

	mu          sync.Mutex
	running     map[string]string // directory to remove, by session or output pipe
	controlPipe *os.File          // the stdin of the reaper; nil while it does not run
	ended       chan struct{}     // closed when the process has ended
	closed      bool
}

// closeTimeout is how long Close waits for the idle process to end.
const closeTimeout = 100 * time.Millisecond

// Close ends the process. No program may be started after it.
func (r *Reaper) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.controlPipe == nil {
		return
	}
	_ = r.controlPipe.Close()
	r.controlPipe = nil
	select {
	case <-r.ended:
	case <-time.After(closeTimeout):
	}
}

// addPipe registers a program that is about to start, by its output pipe. It returns
// the name of the pipe for add or remove. It starts the process before the first
// program. The reaper must run before a kill of this process can come.
func (r *Reaper) addPipe(output *os.File, temp string) (pipe string) {
	if r == nil {
		return ""
	}
	pipe = pipeName(output)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		r.running = map[string]string{}
	}
	r.running[pipe] = temp
	r.send(addLine(pipe, temp))
	return pipe
}

// addSession registers a running session instead of its output pipe. If temp is not empty,
// that directory is removed with the session.
func (r *Reaper) addSession(session, temp, pipe string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, pipe)
	r.running[session] = temp
	r.send(addLine(session, temp) + removeLine(pipe))
}

// remove unregisters a session that has ended, or the output pipe of a program that
// did not start.
func (r *Reaper) remove(name string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, name)
	if r.controlPipe != nil {
		_, _ = r.controlPipe.WriteString(removeLine(name)) // a write error also occurs at the next start
	}
}

// addLine and removeLine return the lines that the reaper reads.
func addLine(name, temp string) string { return fmt.Sprintf("+%s %q\n", name, temp) }
func removeLine(name string) string    { return "-" + name + "\n" }

// send writes lines to the reaper, which it starts again if it was killed.
func (r *Reaper) send(lines string) {
	if r.closed {
		return
	}
	if r.controlPipe != nil {
		if _, err := r.controlPipe.WriteString(lines); err == nil {
			return
		}
		_ = r.controlPipe.Close()
		r.controlPipe = nil
	}
	if r.start() != nil {
		return // the session may then outlive this process, but the command must not fail
	}
	for name, temp := range r.running {
		_, _ = r.controlPipe.WriteString(addLine(name, temp))
	}
}

func (r *Reaper) start() error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := r.Command()
	cmd.Stdin = in
	cmd.SysProcAttr = helperSession() // it must outlive the signal that ends this process
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return err
	}
	r.controlPipe, r.ended = out, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // avoid a zombie
		close(ended)
	}(r.ended)
	return nil
}

// Reap is the main function of a [Reaper]'s process; in is its stdin. It returns
// when in has ended and no session in it runs any more.
func Reap(in io.Reader) {
	running := map[string]string{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		line := lines.Text()
		if line == "" {
			continue
		}
		name, quoted, _ := strings.Cut(line[1:], " ")
		delete(running, name)
		if line[0] == '+' {
			running[name], _ = strconv.Unquote(quoted)
		}
	}
	var all sync.WaitGroup
	for name, temp := range running {
		all.Go(func() {
			pollUntil(func() bool { return !killSessions(name) })
			if temp != "" {
				_ = os.RemoveAll(temp)
			}
		})
	}
	all.Wait()
}

// killSessions kills a session, or the sessions of all processes that write to an output pipe.
// It reports whether any process was alive.
func killSessions(name string) bool {
	sessions := writersTo(name)
	if session, err := strconv.Atoi(name); err == nil {
		sessions = []int{session}
	}
	alive := false
	for _, session := range sessions {
		// The system call would read a smaller number as init, its own group or all processes.
		if session > 1 && signalSession(session, syscall.SIGKILL) {
			alive = true
		}
	}
	return alive
}
