package shell

import (
	"context"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// follower reports a job in the background to a client that shows its output as it comes. A nil follower
// reports nothing.
type follower struct {
	notify func(executors.Event)
	told   chan struct{} // closed when the end was reported

	mu sync.Mutex // held while an event is reported
}

// follow returns the follower of a job that has started, which reports its end; nil if the client follows none.
func (e *Executor) follow(call *executors.Call, run Job) *follower {
	if !e.Follow {
		return nil
	}
	notify := call.Notify // the call may get another one when it ends
	f := &follower{notify: notify, told: make(chan struct{})}
	go func() {
		<-run.Done()
		out := run.Exit()
		f.mu.Lock()
		defer f.mu.Unlock()
		notify(executors.Event{Exit: &executors.Exit{Code: out.ExitCode, Signal: out.Signal}})
		close(f.told)
	}()
	return f
}

// reportBackground reports that the job goes on after its call, unless it has ended.
func (f *follower) reportBackground(run Job) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.told:
	default:
		f.notify(executors.Event{Background: func() {
			ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
			defer cancel()
			run.Stop(ctx)
		}})
	}
}

// awaitEnd waits until the end of a job that has ended was reported, or until ctx ends.
func (f *follower) awaitEnd(ctx context.Context) {
	if f == nil {
		return
	}
	select {
	case <-f.told:
	case <-ctx.Done():
	}
}
