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
// A nil Reaper does nothing. The methods may be called concurrently.
type Reaper struct {
	// Command starts this binary so that it calls [Reap] with its stdin.
	Command func() *exec.Cmd

	mu      sync.Mutex
	running map[int]string // directory to remove, by session
	pipe    *os.File       // nil while there is no process
	ended   chan struct{}  // closed when the process has ended
	closed  bool
}

// closing is how long Close waits for the idle process to end.
const closing = 100 * time.Millisecond

// Close ends the process. No program may be started after it.
func (r *Reaper) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.pipe == nil {
		return
	}
	_ = r.pipe.Close()
	r.pipe = nil
	select {
	case <-r.ended:
	case <-time.After(closing):
	}
}

// ready starts the process before the first program, so that add only has to write a
// line. Whoever kills this process must not be faster than the start of the reaper.
func (r *Reaper) ready() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipe == nil && !r.closed {
		_ = r.start() // add tries again
	}
}

// add registers a running session. If temp is not empty, that directory is removed
// with the session.
func (r *Reaper) add(session int, temp string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.running == nil {
		r.running = map[int]string{}
	}
	r.running[session] = temp
	if r.pipe != nil && r.say(session, temp) == nil {
		return
	}
	if r.pipe != nil { // the reaper was killed
		_ = r.pipe.Close()
		r.pipe = nil
	}
	if r.start() != nil {
		return // the session may then outlive this process, but the command must not fail
	}
	for session, temp := range r.running {
		_ = r.say(session, temp)
	}
}

// remove unregisters a session that has ended.
func (r *Reaper) remove(session int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, session)
	if r.pipe != nil {
		_, _ = fmt.Fprintf(r.pipe, "-%d\n", session) // a write error also occurs at the next add
	}
}

func (r *Reaper) say(session int, temp string) error {
	_, err := fmt.Fprintf(r.pipe, "+%d %q\n", session, temp)
	return err
}

func (r *Reaper) start() error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := r.Command()
	cmd.Stdin = in
	cmd.SysProcAttr = apart() // it must outlive the signal that ends this process
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return err
	}
	r.pipe, r.ended = out, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // avoid a zombie
		close(ended)
	}(r.ended)
	return nil
}

// Reap is the main function of a [Reaper]'s process; in is its stdin. It returns
// when in has ended and no session in it runs any more.
func Reap(in io.Reader) {
	running := map[int]string{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		line := lines.Text()
		if line == "" {
			continue
		}
		number, quoted, _ := strings.Cut(line[1:], " ")
		session, err := strconv.Atoi(number)
		if err != nil || session <= 1 { // kill would read these as init, its own group or all processes
			continue
		}
		delete(running, session)
		if line[0] == '+' {
			running[session], _ = strconv.Unquote(quoted)
		}
	}
	var all sync.WaitGroup
	for session, temp := range running {
		all.Go(func() {
			pollUntil(func() bool { return !signalSession(session, syscall.SIGKILL) })
			if temp != "" {
				_ = os.RemoveAll(temp)
			}
		})
	}
	all.Wait()
}
