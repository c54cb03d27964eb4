package shell

import (
	"context"
	_ "embed" // the descriptions of the tools
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// The tools for commands in the background.
const (
	toolOutput = "bash_output"
	toolStop   = "bash_stop"
)

//go:embed bash_output.md
var outputDescription string

//go:embed bash_stop.md
var stopDescription string

const (
	earlyEndWait   = 500 * time.Millisecond // how long a start waits for an early end
	stopTimeout    = 1500 * time.Millisecond
	discardTimeout = 200 * time.Millisecond // at a discarded job, to release its output
)

// background are the commands of one session that run in the background.
type background struct {
	mu     sync.Mutex
	jobs   []*job            // without those whose end was reported, in the order of their start
	ended  map[string]string // id to how the job ended, once its end was reported
	lastID int               // number in the id
	closed bool

	starting sync.WaitGroup
}

// job is one command in the background.
type job struct {
	id       string
	line     string
	began    time.Time
	handle   Job  // from the Runner; nil while it is being started
	unasked  bool // nobody was asked about the command
	dir      string
	begun    chan struct{} // closed when handle is set, or when the job did not start
	reported bool          // Finished has reported its end
	follower *follower     // set with handle; nil if the client does not follow the job
	timer    *time.Timer   // of its limit of time; nil without one
	overtime atomic.Int64  // the limit that stopped it, in nanoseconds; 0 if none did

	reading chan struct{} // holds a token while a call reads the output
}

// stopTimer ends the limit of time; the caller holds the mutex of the jobs.
func (j *job) stopTimer() {
	if j.timer != nil {
		j.timer.Stop()
	}
}

// running reports whether the command has not ended yet.
func (j *job) running() bool {
	if j.handle == nil {
		return true
	}
	select {
	case <-j.handle.Done():
		return false
	default:
		return true
	}
}

// String names the job for people and for the model.
func (j *job) String() string {
	state := "running for " + seconds(time.Since(j.began))
	if !j.running() {
		state = j.state(j.handle.Exit()) + "; bash_output shows its output"
	}
	return fmt.Sprintf("%s: %s (%s)", j.id, brief(j.line), state)
}

// seconds formats a duration in whole seconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }

// brief shortens a script to one line of a list.
func brief(script string) string {
	return line.TruncateRunes(executors.WholeLine(script), 80)
}

// Running counts the commands that run in the background now.
func (e *Executor) Running() int { return len(e.Commands()) }

// Commands returns the commands that run in the background now, shortened to one line each.
func (e *Executor) Commands() []string {
	e.background.mu.Lock()
	defer e.background.mu.Unlock()
	var lines []string
	for _, j := range e.background.jobs {
		if j.running() {
			lines = append(lines, brief(j.line))
		}
	}
	return lines
}

// Background lists the commands in the background, for people, one per line: those that
// run, and those whose end was not reported yet.
func (e *Executor) Background() []string {
	e.background.mu.Lock()
	defer e.background.mu.Unlock()
	var lines []string
	for _, j := range e.background.jobs {
		lines = append(lines, j.String())
	}
	return lines
}

// Close ends all commands in the background and refuses new ones. It returns within
// two seconds if the turns of the session were cancelled before.
func (e *Executor) Close() error {
	b := &e.background
	b.mu.Lock()
	b.closed = true
	for _, j := range b.jobs {
		j.stopTimer()
	}
	jobs := slices.DeleteFunc(b.jobs, func(j *job) bool { return j.handle == nil }) // of these start sees that the session is closed
	b.jobs = nil
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, j := range jobs {
		all.Go(func() { j.discard(ctx) })
	}
	all.Wait()
	b.starting.Wait()
	return nil
}

// discard ends a job and releases its output.
func (j *job) discard(ctx context.Context) {
	j.handle.Stop(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	j.follower.awaitEnd(last)
	out, _ := j.handle.ReadOutput(last)
	out.Full.Close()
	if out.Release != nil {
		out.Release()
	}
}

// reserve adds a job that is about to start.
func (b *background) reserve(cmd Command, line string, limit int, began time.Time) (*job, *executors.Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, executors.Failuref(executors.PermanentFailure, "the session is being closed: no more commands can start")
	case limit == 0:
		return nil, executors.Failuref(executors.PolicyBlocked, "commands do not run in the background here (tools.shell.max_background is 0)").
			Hint("Run it without background, so that it ends by itself.")
	case len(b.jobs) >= limit:
		return nil, executors.Failuref(executors.PermanentFailure, "the limit of %s in the background (tools.shell.max_background) is reached: %s", quantity.Count(limit, "command"), b.list()).
			Hint("End one with bash_stop, or look at the end of one that has ended with bash_output.")
	}
	b.lastID++
	j := &job{
		id: fmt.Sprintf("bg%d", b.lastID), line: line, began: began, reading: make(chan struct{}, 1),
		unasked: cmd.ReadOnly, dir: cmd.Dir, begun: make(chan struct{}),
	}
	b.jobs = append(b.jobs, j)
	b.starting.Add(1)
	return j, nil
}

// started sets the runner's job and its follower, and reports whether the session is still open.
func (b *background) started(j *job, run Job, f *follower) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	j.handle, j.follower = run, f
	close(j.begun)
	return !b.closed
}

// forget removes a job from the list; how describes its end.
func (b *background) forget(j *job, how string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended == nil {
		b.ended = map[string]string{}
	}
	b.ended[j.id] = how
	if j.handle == nil {
		close(j.begun)
	}
	j.stopTimer()
	b.jobs = slices.DeleteFunc(b.jobs, func(other *job) bool { return other == j })
}

// list names the jobs; the caller holds mu.
func (b *background) list() string {
	var all []string
	for _, j := range b.jobs {
		all = append(all, j.String())
	}
	return strings.Join(all, "; ")
}

// find returns the job with that id.
func (b *background) find(id string) (*job, *executors.Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.id == id && j.handle != nil {
			return j, nil
		}
	}
	others := "no command is running"
	if len(b.jobs) > 0 {
		others = "there are " + b.list()
	}
	if how, ok := b.ended[id]; ok {
		return nil, executors.Failuref(executors.InvalidParameters, "%s has ended [%s], and all of its output was returned; %s", id, how, others).
			Hint("Look at the earlier results, or start the command again.")
	}
	return nil, executors.Failuref(executors.InvalidParameters, "there is no command %q in the background; %s", id, others).
		Hint("Use an id that bash returned for background; such commands end with the agent.")
}

// start runs a command in the background and returns its first output.
func (e *Executor) start(ctx context.Context, call *executors.Call, in *bashInput, note string) (executors.Result, error) {
	cmd := e.command(call, in)
	j, f := e.background.reserve(cmd, in.Command, e.cfg.MaxBackground, time.Now())
	if f != nil {
		return f.Result(), nil
	}
	defer e.background.starting.Done()
	run, err := e.Runner.Background(ctx, cmd)
	if err != nil {
		e.background.forget(j, "did not start")
		if ctx.Err() != nil {
			return executors.Result{}, context.Cause(ctx)
		}
		return asFailure(err).Result(), nil
	}
	sessionOpen := e.background.started(j, run, e.follow(call, run))
	if sessionOpen {
		select {
		case <-run.Done():
		case <-time.After(earlyEndWait):
		case <-ctx.Done():
		}
	}
	if !sessionOpen || ctx.Err() != nil {
		return e.abandon(ctx, j)
	}
	return e.readJob(ctx, call, j, readRequest{first: true, note: note})
}

// abandon ends a job whose id the model would not learn.
func (e *Executor) abandon(ctx context.Context, j *job) (executors.Result, error) {
	e.background.forget(j, "stopped before its id was returned")
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	j.discard(stopping)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return executors.Failf(executors.PermanentFailure, "the session was closed"), nil
}

type outputInput struct {
	ID    string `json:"id"`
	Wait  int    `json:"wait,omitempty" jsonschema:"minimum=0,maximum=600"` // in seconds
	Until string `json:"until,omitempty"`
}

func (e *Executor) prepareOutput(_ context.Context, call *executors.Call, in *outputInput) (executors.Card, error) {
	return e.jobCard(call, in.ID)
}

func (e *Executor) output(ctx context.Context, call *executors.Call, in *outputInput) (executors.Result, error) {
	j, f := e.background.find(in.ID)
	if f != nil {
		return f.Result(), nil
	}
	until, f := in.until()
	if f != nil {
		return f.Result(), nil
	}
	return e.readJob(ctx, call, j, readRequest{wait: in.wait(), until: until})
}

type stopInput struct {
	ID string `json:"id"`
}

func (e *Executor) prepareStop(_ context.Context, call *executors.Call, in *stopInput) (executors.Card, error) {
	return e.jobCard(call, in.ID)
}

func (e *Executor) stop(ctx context.Context, call *executors.Call, in *stopInput) (executors.Result, error) {
	j, f := e.background.find(in.ID)
	if f != nil {
		return f.Result(), nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopTimeout) // a stop is never left half done
	defer cancel()
	stopping, done := context.WithTimeout(ctx, stopTimeout)
	defer done()
	wasRunning := j.running()
	j.handle.Stop(stopping)
	res, err := e.readJob(ctx, call, j, readRequest{})
	if wasRunning && res.Failure == nil {
		res.Failed = false // it was meant to end
	}
	return res, err
}

// jobCard describes a call by the command of its job.
func (e *Executor) jobCard(call *executors.Call, id string) (executors.Card, error) {
	j, f := e.background.find(id)
	if f != nil {
		return executors.Card{Title: call.Tool + " " + executors.Titled(executors.WholeLine(id))}, f
	}
	verb := "output of "
	if call.Tool == toolStop {
		verb = "stop "
	}
	return executors.Card{Title: verb + id + " " + executors.Quoted(executors.WholeLine(j.line)), Kind: executors.KindExecute}, nil
}

// readRequest describes how a call reads the output of a job.
type readRequest struct {
	first bool           // the call is the one that started the job
	late  time.Duration  // of that call: how long it had waited for the end; 0 means not at all
	note  string         // a line of that call, to be shown below the output
	wait  time.Duration  // for the end of the job, or for until; 0 means no wait
	until *regexp.Regexp // ends the wait; may be nil
}

// readJob returns the output of a job since the last read, with the state of the job
// as its last line.
func (e *Executor) readJob(ctx context.Context, call *executors.Call, j *job, req readRequest) (executors.Result, error) {
	select {
	case j.reading <- struct{}{}:
		defer func() { <-j.reading }()
	case <-ctx.Done():
		return executors.Result{}, context.Cause(ctx)
	}
	if _, f := e.background.find(j.id); f != nil { // another call read the end
		return f.Result(), nil
	}
	if req.first {
		defer j.follower.reportBackground(j.handle)
	}
	began := time.Now()
	waitResult, err := e.await(ctx, call, j, req)
	if err != nil {
		return executors.Result{}, err
	}
	waited := time.Since(began)
	out, err := j.handle.ReadOutput(ctx)
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
			return executors.Result{Done: out.Release}, context.Cause(ctx)
		}
		return asFailure(fmt.Errorf("look at %s: %w", j.id, err)).Result(), nil
	}
	end := ending{note: j.runningNote(req, waitResult, e.cfg.MaxTimeout)}
	if req.first && e.JobsEnd != "" {
		end.note = executors.JoinLines(end.note, "["+e.JobsEnd+"]")
	}
	if out.Ended {
		j.follower.awaitEnd(ctx)
		e.background.forget(j, j.state(out))
		end = out.ending(nil)
		end.note = "[" + j.state(out) + "]"
		if out.ReadOnly {
			req.note = executors.JoinLines(req.note, e.restricted.record(j.line, out))
		}
	}
	if out.Text == "" && out.Full == nil && !req.first {
		out.Text = "(no new output)\n"
		if waited >= time.Second && !out.Ended {
			out.Text = fmt.Sprintf("(no new output in %s)\n", seconds(waited))
		}
	}
	out.Note = executors.JoinLines(out.Note, req.note)
	if !req.first {
		out.Terminal = "" // the call that started it shows it
	}
	res := out.result(end, e.cfg.MaxOutputChars)
	if res.Output != nil {
		res.Output.Partial = true
	}
	out.recordOutcome(call.Record, res)
	return res, nil
}

// runningNote returns the last line of a result for a job that still runs. waitResult is why the
// call's wait ended, or "".
func (j *job) runningNote(req readRequest, waitResult string, limit int) string {
	age := seconds(time.Since(j.began))
	switch {
	case req.late > 0:
		return fmt.Sprintf("[still running after %s; it goes on in the background as %s, for at most %d s in all: bash_output %s with wait returns the rest, bash_stop %s ends it]",
			seconds(req.late), j.id, limit, j.id, j.id)
	case req.first:
		return fmt.Sprintf("[%s runs in the background: bash_output %s shows more, bash_stop %s ends it]", j.id, j.id, j.id)
	case waitResult != "":
		return "[running for " + age + "; " + waitResult + "]"
	}
	return "[running for " + age + "]"
}
