package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// maxHold is how long a call waits. The time limit of unasked commands ends them before.
const maxHold = 15 * time.Minute

// Hold returns tools whose calls that rename files wait until no unasked command runs in the
// background that could read the files. It says what it waits for. An unasked command was checked by
// the names that its files had when it began: after "mv open old; mv secrets open" it would read
// others.
func (e *Executor) Hold(next executors.Executor) executors.Executor { return holder{next, e} }

type holder struct {
	executors.Executor
	shell *Executor
}

func (h holder) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if !call.Spec.Is(executors.RenamesFiles) {
		return h.Executor.Execute(ctx, call)
	}
	waited, f, err := h.shell.awaitUnasked(ctx, call)
	if err != nil {
		return executors.Result{}, err
	}
	if f != nil {
		return f.Result(), nil
	}
	res, err := h.Executor.Execute(ctx, call)
	res.Below(waited)
	return res, err
}

// awaitUnasked waits for the end of the unasked commands in the background that could read the
// files of the call. It returns a line for the model about the wait, "" if there was none.
func (e *Executor) awaitUnasked(ctx context.Context, call *executors.Call) (waited string, f *executors.Failure, err error) {
	over := time.NewTimer(maxHold)
	defer over.Stop()
	began, first := time.Now(), ""
	for {
		j, name := e.background.nextUnasked(func(dir string) bool { return e.touches(call.Card.Paths, dir) })
		switch {
		case j == nil && first == "":
			return "", nil, nil
		case j == nil:
			return fmt.Sprintf("[waited %s for the end of %s, which could read these files]", seconds(time.Since(began)), first), nil, nil
		case first == "":
			first = name
		}
		call.Notify(executors.Event{Progress: "waiting for the end of " + name + ", which could read these files"})
		select {
		case <-j.ended():
		case <-over.C:
			return "", executors.Failuref(executors.Timeout, "%s still runs, and could read these files", name).
				Hint("End it with bash_stop and call this again."), nil
		case <-ctx.Done():
			return "", nil, context.Cause(ctx)
		}
	}
}

// touches reports whether a command in dir could read one of the paths: where they lie in the
// session's directories. A call without paths touches everything.
func (e *Executor) touches(paths []string, dir string) bool {
	dirs := []string{dir}
	if e.Roots != nil {
		dirs = append(dirs, e.Roots.Dirs()...)
	}
	return len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return workspace.Within(dir, path) || workspace.Within(path, dir) })
	})
}

// nextUnasked returns the first running job of an unasked command whose directory fits, and its
// name for people and the model; nil if there is none.
func (b *background) nextUnasked(fits func(dir string) bool) (*job, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.unasked && j.running() && fits(j.dir) {
			return j, fmt.Sprintf("%s (%s)", j.id, brief(j.line))
		}
	}
	return nil, ""
}

// ended returns a channel that is closed when the job has ended, or when it has begun: the caller
// then looks again.
func (j *job) ended() <-chan struct{} {
	select {
	case <-j.begun:
		if j.handle != nil {
			return j.handle.Done()
		}
	default:
	}
	return j.begun
}
