package shell

import (
	"context"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/shell/process"
)

// Job is a command that runs in the background. Its methods may be called
// concurrently, except Look: each call returns the output since the one before.
type Job interface {
	// Done is closed when the command has ended and its output is complete.
	Done() <-chan struct{}
	// Look returns the output since the last look, and how the command ended if Done
	// is closed. Without new output it waits for some, at most wait. When ctx ends
	// first it returns the cause of ctx, and no output is lost.
	Look(ctx context.Context, wait time.Duration) (Output, error)
	// Stop ends the command with all its children, so that Done is closed when it
	// returns, or when ctx ends.
	Stop(ctx context.Context)
}

// burst is how long a look goes on after the first output: most programs write more
// than one line at a time.
const burst = 50 * time.Millisecond

// Background starts a command that runs until it ends or is stopped. Up to c.Limit
// bytes of its output are kept until the next look.
func (l Local) Background(ctx context.Context, c Command) (Job, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	j := &localJob{readOnly: c.ReadOnly && l.ReadOnly != nil, limit: c.Limit, kept: newCapture(c.Limit), more: make(chan struct{}, 1)}
	var err error
	if j.process, err = l.startShell(c, process.Program{Sink: j.write}); err != nil {
		return nil, err
	}
	return j, nil
}

type localJob struct {
	process  *process.Process
	readOnly bool // enforced by the kernel
	limit    int
	more     chan struct{} // holds one token if there is new output

	mu   sync.Mutex
	kept *process.Capture // since the last look
}

func (j *localJob) write(text []byte) {
	if len(text) == 0 {
		return
	}
	j.mu.Lock()
	j.kept.Add(text)
	j.mu.Unlock()
	select {
	case j.more <- struct{}{}:
	default:
	}
}

func (j *localJob) Done() <-chan struct{} { return j.process.Done() }

func (j *localJob) Look(ctx context.Context, wait time.Duration) (Output, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case <-j.more:
		select {
		case <-j.Done():
		case <-ctx.Done():
		case <-time.After(min(burst, wait)):
		}
	case <-j.Done():
	case <-ctx.Done():
	case <-over.C:
	}
	if ctx.Err() != nil {
		j.wake()
		return Output{}, context.Cause(ctx)
	}
	_, _, exit := j.process.Output() // before the output is read, which is then complete
	j.mu.Lock()
	kept := j.kept
	j.kept = newCapture(j.limit)
	select {
	case <-j.more:
	default:
	}
	j.mu.Unlock()
	out := captured(kept)
	out.ReadOnly = j.readOnly
	if out.Full == nil {
		out.Stdout = out.Text // one stream, in its exact order
	} else {
		out.Stdout, out.CutStreams = out.bound(streamBytes / 4)
	}
	if exit != nil {
		out.Ended = true
		out.ExitCode, out.Signal = exit.Code, exit.Signal
	}
	return out, nil
}

// wake puts the token back.
func (j *localJob) wake() {
	select {
	case j.more <- struct{}{}:
	default:
	}
}

func (j *localJob) Stop(ctx context.Context) {
	j.process.Kill()
	select {
	case <-j.Done():
	case <-ctx.Done():
	}
}
