// Package process starts programs in their own sessions, keeps their output,
// and ends all their processes.
//
// Start with [Start]. It returns a [Process] to wait for, inspect and release.
// A [Capture] keeps a long output that [Program].Sink delivers. A [Reaper]
// cleans up if this process is killed.
//
// It promises that [Process.Wait] returns when the program has ended, even if
// another process holds its output open. No member of its session runs after
// that. Memory stays bounded, however much the program writes. Output is valid
// UTF-8 in whole runes.
//
// The caller restricts the program: it passes the environment and a function
// that confines it. A program that leaves its session with setsid(2) is only
// ended if it is confined: see [Restriction].
//
// Why the session and not the process group? Because timeout(1) and "set -m"
// make their own groups. Only Linux can list a session; on other systems only
// the process group ends.
package process

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// drainTime is how long output is still read if a daemon holds the pipe open.
const drainTime = 100 * time.Millisecond

// Program describes a program to start.
type Program struct {
	Path string   // looked up in this process's PATH unless it has a separator
	Args []string // without the program's name
	Env  []string // NAME=value, the whole environment; PWD is set to Dir
	Dir  string   // absolute path
	// Head and Tail are how many bytes are kept of the beginning and of the end
	// of the output. An ACP terminal keeps only the tail.
	Head, Tail int
	// Split also keeps stdout and stderr separately. They then use two pipes,
	// and simultaneous writes to both can be reordered. Without Split the order
	// is exact.
	Split bool
	// Sink, if not nil, receives all of both streams in whole runes; Output
	// then returns no text. It must neither block nor keep the bytes. It is not
	// called concurrently, nor after the process is done.
	Sink func([]byte)
	// Tee receives what a Sink would, but Output still returns the text.
	Tee func([]byte)
	// Confine, if not nil, is called before the program starts, on a thread
	// that starts only this program. The program never has a right that this
	// thread dropped. On an error the program does not start.
	Confine func() error
	// AfterEnd, if not nil, is called on the same thread when the program itself has ended.
	AfterEnd func()
	// Temp, if not empty, is a directory that is removed when the program's whole
	// session has ended, or when the program did not start.
	Temp string
	// MaxTemp is how many bytes the files in Temp may need. Each counts 4 KiB more than its
	// content. A program that exceeds the limit is ended, with [TempExceeded] as the last line of
	// its output. 0 means any number.
	MaxTemp int64
	// MaxTime is how long the program may run. A program that exceeds it is ended, with
	// [TimeExceeded] as the last line of its output. 0 means without a limit.
	MaxTime time.Duration
	// Reaper ends the rest of the session if this process dies; may be nil.
	Reaper *Reaper
	// Live, if not nil, receives the first MiB of both streams as it comes, in whole
	// runes. It is called from one goroutine, may keep the bytes, and is not
	// called after the process is done.
	Live func([]byte)
}

// Process is a running or ended program. Its methods may be called
// concurrently. The owner must either wait until it is done or call Release.
type Process struct {
	cmd           *exec.Cmd
	exited        chan struct{} // the program itself ended
	killRequested chan struct{} // closed by Kill
	killOnce      sync.Once     // closes killRequested
	done          chan struct{} // closed when its session ended and its output is complete
	live          *live         // nil without Program.Live
	temp          string        // Program.Temp
	maxTemp       int64         // Program.MaxTemp
	maxTime       time.Duration // Program.MaxTime
	reaper        *Reaper
	exit          executors.Exit // set before done is closed

	decoders [2]runeDecoder // of stdout and stderr; used only by the goroutine that reads

	mu      sync.Mutex
	merged  headTailBuffer
	sink    func([]byte)      // replaces merged if not nil
	tee     func([]byte)      // Program.Tee
	streams []*headTailBuffer // stdout and stderr; empty without Program.Split
}

// Start starts a program in its own session, with empty stdin.
//
// exec.CommandContext and its WaitDelay do not suffice: the rest of the session must be
// stopped after the program has ended, but before its output is complete.
func Start(prog Program) (*Process, error) {
	cmd := exec.Command(prog.Path, prog.Args...)
	cmd.Dir = prog.Dir
	cmd.Env = slices.Concat(prog.Env, []string{"PWD=" + prog.Dir})
	cmd.SysProcAttr = ownSession()
	p := &Process{
		cmd:           cmd,
		exited:        make(chan struct{}),
		killRequested: make(chan struct{}),
		done:          make(chan struct{}),
		merged:        headTailBuffer{maxHead: prog.Head, maxTail: prog.Tail},
		sink:          prog.Sink,
		tee:           prog.Tee,
		temp:          prog.Temp,
		maxTemp:       prog.MaxTemp,
		maxTime:       prog.MaxTime,
		reaper:        prog.Reaper,
	}
	streams := 1
	if prog.Split {
		streams = 2
		p.streams = []*headTailBuffer{{maxHead: prog.Head, maxTail: prog.Tail}, {maxHead: prog.Head, maxTail: prog.Tail}}
	}
	readers, writers, err := pipes(streams)
	if err != nil {
		p.removeTemp()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = writers[0], writers[streams-1]
	readAll := newReadFunc(readers) // before any process can write
	started := make(chan error)
	output := prog.Reaper.addPipe(writers[0], prog.Temp)
	goOnThread(func() { p.startAndWait(prog, output, started) })
	err = <-started
	closeAll(writers)
	if err != nil {
		readAll(context.Background(), p.receive) // reads end immediately
		closeAll(readers)
		p.removeTemp()
		return nil, err
	}
	if prog.Confine != nil {
		endFirst(p.cmd.Process.Pid)
	}
	if prog.Live != nil {
		p.live = startLive(maxLiveBytes, prog.Live)
	}
	go p.supervise(func(ctx context.Context) {
		readAll(ctx, p.receive)
		closeAll(readers)
	})
	return p, nil
}

// goOnThread runs f in a goroutine that is locked to a thread of its own. It is never the main
// thread, since the kernel checks access to a process by its main thread's rights: if the main
// thread dropped rights, the programs that it starts could open this process's files.
func goOnThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if !onMainThread() {
			f()
			return
		}
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread() // another thread, since the main one is locked
			close(locked)
			f()
		}()
		<-locked
		runtime.UnlockOSThread()
	}()
}

// startAndWait starts the program and waits for it on one thread. Linux kills a child with
// Pdeathsig when the thread that started it ends. So the goroutine stays locked to the thread
// until the child has ended. A thread that dropped rights is never unlocked, so it ends with the
// goroutine.
//
// output is the name of the output pipe, which the reaper has.
func (p *Process) startAndWait(prog Program, output string, started chan<- error) {
	dropped, err := dropPtrace()
	if err == nil && prog.Confine != nil {
		err = prog.Confine()
	}
	if err != nil {
		p.reaper.remove(output)
		started <- err
		return
	}
	if !dropped && prog.Confine == nil {
		defer runtime.UnlockOSThread()
	}
	if err = p.cmd.Start(); err == nil {
		p.reaper.addSession(strconv.Itoa(p.cmd.Process.Pid), p.temp, output)
	} else {
		p.reaper.remove(output)
	}
	started <- err
	if err == nil {
		p.cmd.Wait() // ProcessState then holds the exit status
		if prog.AfterEnd != nil {
			prog.AfterEnd()
		}
		close(p.exited)
	}
}

// supervise ends the session after the program, and completes the output.
func (p *Process) supervise(readAll func(context.Context)) {
	var output sync.WaitGroup
	readCtx, stopReading := context.WithCancel(context.Background())
	defer stopReading()
	output.Go(func() { readAll(readCtx) })
	exceeded := p.waitForEnd()
	endSession(p.cmd.Process.Pid)
	p.exit = executors.Exit{Signal: "SIGKILL"}
	select {
	case <-p.exited:
		p.exit = exitOf(p.cmd.ProcessState)
	case <-time.After(grace): // stuck in the kernel: even SIGKILL has no effect now
	}
	// Every process that could write has ended, so the pipes end too, unless a
	// daemon holds them.
	timer := time.AfterFunc(drainTime, stopReading)
	output.Wait()
	timer.Stop()
	for i := range p.decoders {
		p.write(i, p.decoders[i].finish())
	}
	if exceeded != "" {
		p.write(len(p.decoders)-1, []byte("\nzeph-acp: "+exceeded+"\n"))
	}
	if p.live != nil {
		p.live.close()
	}
	p.removeTemp()
	p.reaper.remove(strconv.Itoa(p.cmd.Process.Pid))
	close(p.done)
}

// waitForEnd waits until the program has ended or has to end. It returns the text about the limit
// that it exceeded, or "".
func (p *Process) waitForEnd() (exceeded string) {
	var tick, over <-chan time.Time
	if p.maxTime > 0 {
		timer := time.NewTimer(p.maxTime)
		defer timer.Stop()
		over = timer.C
	}
	if p.temp != "" && p.maxTemp > 0 {
		ticker := time.NewTicker(tempInterval)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-p.exited:
			return ""
		case <-p.killRequested:
			return ""
		case <-over:
			return TimeExceeded
		case <-tick:
			if p.tempExceeds() {
				return TempExceeded
			}
		}
	}
}

// removeTemp removes the temporary directory of the program.
func (p *Process) removeTemp() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// receive receives a chunk of stream i: 0 is stdout or both, 1 is stderr.
func (p *Process) receive(i int, chunk []byte) { p.write(i, p.decoders[i].decode(chunk)) }

func (p *Process) write(i int, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sink != nil {
		p.sink(text)
	} else {
		p.merged.write(text)
	}
	if p.tee != nil {
		p.tee(text)
	}
	if p.streams != nil {
		p.streams[i].write(text)
	}
	if p.live != nil {
		p.live.write(text)
	}
}

// Wait waits until the program and its session have ended and the output is
// complete. If ctx ends first, it returns the cause of ctx, and the program
// keeps running.
func (p *Process) Wait(ctx context.Context) (executors.Exit, error) {
	select {
	case <-p.done:
		return p.exit, nil
	default:
	}
	select {
	case <-p.done:
		return p.exit, nil
	case <-ctx.Done():
		return executors.Exit{}, context.Cause(ctx)
	}
}

// Done is closed when the program and its session have ended and the output is
// complete.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the program and its session, without waiting for their end. Output
// and Wait still work.
func (p *Process) Kill() { p.killOnce.Do(func() { close(p.killRequested) }) }

// Release ends the program if it still runs, and waits for its end.
func (p *Process) Release() {
	p.Kill()
	<-p.done
}

// Output returns the kept text of both streams so far, whether some text was
// dropped, and the exit status. exit is nil while the program runs.
func (p *Process) Output() (text string, truncated bool, exit *executors.Exit) {
	select {
	case <-p.done:
		e := p.exit
		exit = &e
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	head, tail, dropped := p.merged.parts()
	return head + tail, dropped > 0, exit
}

// Streams returns the kept text of each stream so far, with a line in place of
// dropped text, and whether some was dropped. Program.Split must have been set.
func (p *Process) Streams() (stdout, stderr string, truncated bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stdout, cut := p.streams[0].text()
	stderr, cutToo := p.streams[1].text()
	return stdout, stderr, cut || cutToo
}
