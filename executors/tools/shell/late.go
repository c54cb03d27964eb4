package shell

import (
	"context"
	"errors"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// ErrGoOn is the cause that makes [Runner].Run return a command that still runs.
var ErrGoOn = errors.New("the command goes on in the background")

// killLate is the value of on_timeout that stops a late command.
const killLate = "kill"

// The sentences about time in the description of the tool, by on_timeout.
const (
	goesOn    = "After timeout (seconds), or with background, it goes on; bash_output, bash_stop take its id."
	isLimited = "Time is limited (timeout: seconds). background (servers) returns an id for bash_output, bash_stop."
)

// timeLimit returns how long a call waits for its command; 0 means until it ends. goOn reports whether a
// command that takes longer keeps running in the background. Some do not: a command of the agent itself,
// whose output nobody could read later; one with a snapshot, which would be out of date; and one with
// secrets of a skill, which only its own calls may have.
func (e *Executor) timeLimit(call *executors.Call, in *bashInput, hasSnapshot bool) (limit time.Duration, goOn bool) {
	switch {
	case in.Timeout > 0:
		limit = time.Duration(in.Timeout) * time.Second
	case call.Origin == executors.User:
		return 0, false // it runs to its end
	default:
		limit = e.Timeout
	}
	goOn = e.cfg.OnTimeout != killLate && e.cfg.MaxBackground > 0 && call.Origin == executors.Model && !hasSnapshot && len(call.Env) == 0
	return limit, goOn
}

// goOn adds a command that is still running to the commands in the background, and returns its
// output so far. It is stopped at max_timeout. refused is why it cannot be added.
func (e *Executor) goOn(
	ctx context.Context, call *executors.Call, in *bashInput, cmd Command, run Job, began time.Time, note string,
) (res executors.Result, refused *executors.Failure, err error) {
	j, f := e.background.reserve(cmd, in.Command, e.cfg.MaxBackground, began)
	if f != nil {
		return res, f, nil
	}
	defer e.background.starting.Done()
	waited := time.Since(began).Round(time.Second)
	if open := e.background.started(j, run, e.follow(call, run)); !open || ctx.Err() != nil {
		res, err = e.abandon(ctx, j)
		return res, nil, err
	}
	e.background.limit(j, time.Duration(e.cfg.MaxTimeout)*time.Second)
	res, err = e.readJob(ctx, call, j, readRequest{first: true, late: waited, note: note})
	return res, nil, err
}

// limit stops a job when it has run for max.
func (b *background) limit(j *job, max time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j.timer = time.AfterFunc(max-time.Since(j.began), func() {
		if !j.running() {
			return
		}
		j.overtime.Store(int64(max))
		stopping, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		j.handle.Stop(stopping)
	})
}

// endJob stops a command that cannot go on, and returns its output.
func (e *Executor) endJob(ctx context.Context, run Job) Output {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	run.Stop(stopping)
	last, done := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer done()
	out, err := run.ReadOutput(last)
	if err != nil {
		out.Note = "[the output is lost: " + err.Error() + "]"
	}
	return out
}

// state returns in words how the job ended.
func (j *job) state(out Output) string {
	if d := time.Duration(j.overtime.Load()); d > 0 {
		return "stopped after " + seconds(d) + " (tools.shell.max_timeout)"
	}
	return out.state()
}
