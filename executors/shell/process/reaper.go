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

// Reaper ends what programs of [Start] left, should this process die without
// doing so itself, as by kill -9. The kernel ends a program with its parent, but
// not what the program started.
//
// It is a second process, which is started with the first program. It learns
// over a pipe which sessions run, and at the end of the pipe, which only the
// death of this process or Close brings about, it kills those that are left.
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

// closing is how long Close waits for the process: it has nothing to do then.
const closing = 100 * time.Millisecond

// Close ends the process. Nothing may be started any more.
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

// add notes that a session runs. The directory temp, if not empty, is its own.
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
	if r.pipe != nil { // somebody killed it
		_ = r.pipe.Close()
		r.pipe = nil
	}
	if r.start() != nil {
		return // what is left of a session then lives on; the command shall not suffer from it
	}
	for session, temp := range r.running {
		_ = r.say(session, temp)
	}
}

// remove notes that a session has ended.
func (r *Reaper) remove(session int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, session)
	if r.pipe != nil {
		_, _ = fmt.Fprintf(r.pipe, "-%d\n", session) // add sees that it is gone
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
	cmd.SysProcAttr = apart() // it must outlive what ends this process
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return err
	}
	r.pipe, r.ended = out, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // else it would stay as a zombie
		close(ended)
	}(r.ended)
	return nil
}

// Reap is what the process of a [Reaper] does with its stdin. It returns when
// nothing is left of the sessions that it was told of.
func Reap(in io.Reader) {
	running := map[int]string{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		line := lines.Text()
		if line == "" {
			continue
		}
		number, quoted, _ := strings.Cut(line[1:], " ")
		session, err := strconv.Atoi(number)
		if err != nil || session <= 1 { // 1 and below are not ours to kill, whoever wrote that
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
			gone(func() bool { return !signalSession(session, syscall.SIGKILL) })
			if temp != "" {
				_ = os.RemoveAll(temp)
			}
		})
	}
	all.Wait()
}
