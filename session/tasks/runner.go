// Package tasks runs scheduled tasks while a process lives.
//
// Start with a [Runner] and call Poll when a session opens and when a turn begins. Only one process
// runs a task: it holds a lease in the database, as for turns. If times passed while no process was
// running, the task runs once for all of them. Tasks run one after another.
//
// Before a run begins, it is stored together with the task's next time, so a task never runs twice
// for the same time. If the process dies, the run stays open, and another process continues it: in
// the same session, whose log shows the calls that were made. After maxAttempts processes the run
// is abandoned, since the task itself may have ended them.
//
// Without tasks the package uses no timer. A process then reads the database once at its
// start and later at most once a minute, when a turn begins.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/executors/tools/schedule/cron"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// maxAttempts is the number of processes that try to complete a run.
const maxAttempts = 3

const (
	// tick is the longest interval between two checks of the tasks. It bounds the delay
	// of a run after the clock was changed or the machine was asleep.
	tick = time.Minute
	// startDelay is the time from the first Poll until the tasks are read. So the
	// first turn of the process does not wait for the database.
	startDelay = time.Second
	// heartbeat is how often a run renews its lease.
	heartbeat = store.LeaseTimeout / 3
)

// The outcomes of runs.
const (
	Done        = "done"
	Failed      = "failed"
	Stopped     = "stopped"     // by a limit of the turn
	TimedOut    = "timed out"   // after tools.scheduler.max_run_minutes
	Interrupted = "interrupted" // by the ends of several processes
)

// Job is a run that is to be made.
type Job struct {
	Task store.Task
	Run  store.Run
	// Resumed reports that an earlier process began the run.
	Resumed bool
	// Started stores the session of the run, before anything happens in it.
	Started func(session string) error
}

// Report is the end of a run.
type Report struct {
	Outcome string // one of the outcomes
	Result  string // the last text of the model, or the reason of a failure
}

// Runner runs tasks. Its exported fields are required and must not change.
type Runner struct {
	Store  *store.DB
	Config schedule.Config
	Holder string // of the leases; unique among processes
	Now    func() time.Time
	Run    func(ctx context.Context, j Job) Report
	Ended  func(t store.Task, r store.Run) // called after a run was stored
	Log    *slog.Logger

	mu        sync.Mutex
	closed    bool
	polled    bool                    // Poll or Changed was called
	busy      bool                    // a pass is running
	passAgain bool                    // another pass must follow it
	lastPass  time.Time               // the end of the last pass
	timer     *time.Timer             // begins the next pass; nil if none is planned
	stop      context.CancelCauseFunc // ends the run of the current pass; nil before the first
	passes    sync.WaitGroup
}

// errClosed is the cause that ends a run when its process ends. Another process resumes
// the run.
var errClosed = errors.New("the process ends")

// Poll makes sure that tasks which are due run soon. It does not block.
func (r *Runner) Poll() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
	case !r.polled:
		r.polled = true
		r.planPass(startDelay)
	case r.timer == nil && !r.busy && r.Now().Sub(r.lastPass).Abs() >= tick:
		r.beginPass()
	}
}

// Changed is called after a task was set or removed. It does not block.
func (r *Runner) Changed() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.polled = true
	r.beginPass()
}

// Close ends the current run and waits for it, at most for the given time.
func (r *Runner) Close(wait time.Duration) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.stop != nil {
		r.stop(errClosed)
	}
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() { r.passes.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(wait):
	}
}

// planPass plans the next pass; the caller holds mu.
func (r *Runner) planPass(after time.Duration) {
	if r.timer != nil {
		r.timer.Stop()
	}
	r.timer = time.AfterFunc(after, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.beginPass()
	})
}

// beginPass begins a pass; the caller holds mu.
func (r *Runner) beginPass() {
	if r.closed {
		return
	}
	if r.busy {
		r.passAgain = true
		return
	}
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	ctx, stop := context.WithCancelCause(context.Background())
	r.busy, r.stop = true, stop
	r.passes.Go(func() { r.pass(ctx) })
}

// pass runs the tasks that are due, and plans the next pass if there are more tasks.
func (r *Runner) pass(ctx context.Context) {
	for {
		after, more := r.runDue(ctx)
		r.mu.Lock()
		r.lastPass = r.Now()
		if r.passAgain && !r.closed {
			r.passAgain = false
			r.mu.Unlock()
			continue
		}
		r.busy = false
		r.stop(nil)
		if more && !r.closed {
			r.planPass(after)
		}
		r.mu.Unlock()
		return
	}
}

// runDue runs the tasks that are due. It returns the time until the next pass; more is
// false if it has found that no task is left.
func (r *Runner) runDue(ctx context.Context) (after time.Duration, more bool) {
	tried := map[int64]bool{}
	for {
		ids, next, err := r.Store.Due(ctx, r.Now())
		if err != nil {
			r.Log.Debug("scheduled tasks", "err", err)
			return tick, true // read them again, even if no turn begins
		}
		ran := false
		for _, id := range ids {
			if tried[id] || ctx.Err() != nil {
				continue
			}
			tried[id], ran = true, true
			r.attempt(ctx, id)
		}
		if ran && ctx.Err() == nil { // time has passed
			continue
		}
		if next.IsZero() {
			return tick, len(ids) > 0 // a run of another process, which may die
		}
		after = next.Sub(r.Now())
		if after <= 0 || after > tick { // due already: another process runs it
			after = tick
		}
		return after, true
	}
}

// attempt runs a task if it is due and no other process runs it.
func (r *Runner) attempt(ctx context.Context, id int64) {
	defer func() {
		if p := recover(); p != nil { // one task must not end the process
			r.Log.Error("scheduled task", "task", id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	_, err := r.run(ctx, id, false)
	if _, leased := errors.AsType[*store.LeasedError](err); err != nil && !leased && !errors.Is(err, store.ErrNoTask) {
		r.Log.Warn("scheduled task", "task", id, "err", err)
	}
}

// RunNow runs a task now, whether it is due or not, and returns its run. The error is a
// *store.LeasedError while another process runs it.
func (r *Runner) RunNow(ctx context.Context, id int64) (store.Run, error) {
	return r.run(ctx, id, true)
}

// run runs a task that is due or whose run was left open. forced runs any other task too.
func (r *Runner) run(ctx context.Context, id int64, forced bool) (store.Run, error) {
	if err := r.Store.AcquireTask(ctx, id, r.Holder); err != nil {
		return store.Run{}, err
	}
	defer func() {
		if err := r.Store.ReleaseTask(context.WithoutCancel(ctx), id, r.Holder); err != nil {
			r.Log.Debug("release the lease of a task", "task", id, "err", err)
		}
	}()
	t, err := r.Store.Task(ctx, id) // as it is now that no one else can run it
	if err != nil {
		return store.Run{}, err
	}
	j := Job{Task: t, Run: t.Last, Resumed: t.Last.ID != 0 && t.Last.Ended.IsZero()}
	switch {
	case j.Resumed && j.Run.Attempts >= maxAttempts:
		return r.endRun(j, Report{Interrupted, fmt.Sprintf("%d processes ended during this run. It is not tried again.", maxAttempts)})
	case j.Resumed:
		j.Run.Attempts++
		err = r.Store.ContinueRun(ctx, j.Run.ID)
	case !forced && (t.Next.IsZero() || t.Next.After(r.Now())):
		return store.Run{}, store.ErrNoTask
	default:
		j.Run, err = r.Store.BeginRun(ctx, t, r.nextTime(t))
	}
	if err != nil {
		return store.Run{}, err
	}
	j.Started = func(session string) error {
		return r.Store.SetRunSession(ctx, j.Run.ID, session)
	}
	report, err := r.runWithLease(ctx, j)
	if err != nil {
		return store.Run{}, err
	}
	return r.endRun(j, report)
}

// nextTime returns when a task is due after the run that begins now.
func (r *Runner) nextTime(t store.Task) time.Time {
	if t.Cron == "" {
		return time.Time{}
	}
	now := r.Now()
	if t.Next.After(now) { // RunNow runs it before that
		return t.Next
	}
	x, err := cron.Parse(t.Cron)
	if err != nil { // it was parsed when the task was set
		r.Log.Warn("scheduled task", "task", t.Name, "err", err)
		return time.Time{}
	}
	return x.Next(now.In(r.Config.Location()))
}

// errTooLong is the cause that ends a run at its time limit.
var errTooLong = errors.New("the run took too long")

// runWithLease makes a run, and renews the lease meanwhile. It ends the run when its time is
// over. It returns an error if the run must not be recorded as ended: the task was
// removed, the lease was lost, or the process ends.
func (r *Runner) runWithLease(ctx context.Context, j Job) (Report, error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(time.Duration(r.Config.MaxRunMinutes)*time.Minute, func() { cancel(errTooLong) })
	defer limit.Stop()
	var beating sync.WaitGroup
	beating.Go(func() { r.renewLease(running, j, cancel) })
	report := r.Run(running, j)
	cause := context.Cause(running)
	cancel(nil)
	beating.Wait()
	switch {
	case errors.Is(cause, errTooLong):
		return Report{TimedOut, fmt.Sprintf("Stopped after %s (tools.scheduler.max_run_minutes).", quantity.Count(r.Config.MaxRunMinutes, "minute"))}, nil
	case cause != nil:
		return report, cause
	}
	return report, nil
}

// renewLease renews the lease until ctx is done. If the lease is lost or the task was removed,
// it calls cancel.
func (r *Runner) renewLease(ctx context.Context, j Job, cancel context.CancelCauseFunc) {
	beats := time.NewTicker(heartbeat)
	defer beats.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats.C:
		}
		err := r.Store.HeartbeatTask(ctx, j.Task.ID, r.Holder)
		if err == nil {
			_, err = r.Store.Task(ctx, j.Task.ID)
		}
		if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrNoTask) {
			cancel(err)
			return
		}
	}
}

// endRun stores the end of a run. It does so even when the process ends: the run is over.
func (r *Runner) endRun(j Job, report Report) (store.Run, error) {
	run, err := r.Store.EndRun(context.Background(), j.Task.ID, j.Run.ID, r.Holder, report.Outcome, report.Result)
	if err == nil {
		r.Ended(j.Task, run)
	}
	return run, err
}
