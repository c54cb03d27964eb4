package shell

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
)

// Job is a command that runs in the background. Its methods may be called
// concurrently, except ReadOutput: each call returns the output since the one before.
type Job interface {
	// Done is closed when the command has ended and its output is complete.
	Done() <-chan struct{}
	// Await waits until the command has ended, or until enough returns true. enough is
	// called with the output since the last ReadOutput, and then with each further piece; nil
	// waits for the end alone. When ctx ends first it returns the cause of ctx. The
	// output stays for the next ReadOutput.
	Await(ctx context.Context, enough func(more string) bool) error
	// ReadOutput returns the output since its last call, and how the command ended if Done
	// is closed. When ctx ends first it returns the cause of ctx, and no output is
	// lost.
	ReadOutput(ctx context.Context) (Output, error)
	// Exit returns how the command ended, without output. Done must be closed.
	Exit() Output
	// Stop ends the command with all its children, and waits until Done is closed or ctx
	// ends.
	Stop(ctx context.Context)
}

// burstTime is how long a wait continues after a match: most programs write more than one
// line at a time.
const burstTime = 50 * time.Millisecond

// Background starts a command that runs until it ends or is stopped. Up to c.Limit
// bytes of its output are kept until the next ReadOutput. With c.Follow it is also passed to c.Notify.
func (l Local) Background(ctx context.Context, c Command) (Job, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	j := l.newJob(c)
	var err error
	prog := process.Program{Sink: j.write}
	if c.Follow {
		prog.Live = j.live(c.Notify)
	}
	if j.process, err = l.startShell(c, prog); err != nil {
		return nil, err
	}
	return j, nil
}

// newJob returns a job whose process is not started yet.
func (l Local) newJob(c Command) *localJob {
	return &localJob{readOnly: c.ReadOnly && l.Confine != nil, limit: c.Limit, kept: newCapture(c.Limit)}
}

type localJob struct {
	process  *process.Process
	readOnly bool // enforced by the kernel
	limit    int

	mu       sync.Mutex
	kept     *process.Capture // the output since the last ReadOutput
	awaiters []*awaiter       // running Awaits

	notifying sync.Mutex
	detached  bool // nothing is notified any more
}

// live returns a function that passes output to notify until the job is detached.
func (j *localJob) live(notify func(executors.Event)) func([]byte) {
	return func(text []byte) {
		j.notifying.Lock()
		defer j.notifying.Unlock()
		if !j.detached {
			notify(executors.Event{Output: text})
		}
	}
}

// detach ends the notifications.
func (j *localJob) detach() {
	j.notifying.Lock()
	defer j.notifying.Unlock()
	j.detached = true
}

// awaiter is one Await for a match.
type awaiter struct {
	enough func(more string) bool // called with the lock of its job
	found  chan struct{}          // closed when enough returned true; enough is then nil
}

// offer passes output to enough, until that returned true.
func (w *awaiter) offer(text string) {
	if w.enough != nil && w.enough(text) {
		w.enough = nil
		close(w.found)
	}
}

func (j *localJob) write(text []byte) {
	if len(text) == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept.Add(text)
	for _, w := range j.awaiters {
		w.offer(string(text))
	}
}

func (j *localJob) Done() <-chan struct{} { return j.process.Done() }

// Await implements Job.
func (j *localJob) Await(ctx context.Context, enough func(more string) bool) error {
	w := &awaiter{enough: enough, found: make(chan struct{})}
	if enough != nil {
		j.mu.Lock()
		w.offer(j.kept.Text())
		j.awaiters = append(j.awaiters, w)
		j.mu.Unlock()
		defer j.forget(w)
	}
	select {
	case <-w.found:
		select {
		case <-j.Done():
		case <-ctx.Done():
		case <-time.After(burstTime):
		}
	case <-j.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func (j *localJob) forget(w *awaiter) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.awaiters = slices.DeleteFunc(j.awaiters, func(other *awaiter) bool { return other == w })
}

// Exit implements Job.
func (j *localJob) Exit() Output {
	out := Output{Ended: true}
	if _, _, exit := j.process.Output(); exit != nil {
		out.ExitCode, out.Signal = exit.Code, exit.Signal
	}
	return out
}

// ReadOutput implements Job.
func (j *localJob) ReadOutput(ctx context.Context) (Output, error) {
	if ctx.Err() != nil {
		return Output{}, context.Cause(ctx)
	}
	_, _, exit := j.process.Output() // before the output is read, which is then complete
	j.mu.Lock()
	kept := j.kept
	j.kept = newCapture(j.limit)
	j.mu.Unlock()
	out := OneStream(kept)
	out.ReadOnly = j.readOnly
	if exit != nil {
		out.Ended = true
		out.ExitCode, out.Signal = exit.Code, exit.Signal
	}
	return out, nil
}

func (j *localJob) Stop(ctx context.Context) {
	j.process.Kill()
	select {
	case <-j.Done():
	case <-ctx.Done():
	}
}
