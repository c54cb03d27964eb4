package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// background keeps the commands of a session that run in the background.
func (t *tally) background(jobs app.Jobs) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = append(t.jobs, jobs)
}

// running returns the commands in the background that run now.
func (t *tally) running() (commands []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, jobs := range t.jobs {
		commands = append(commands, jobs.Commands()...)
	}
	return commands
}

// awaitJobs waits until no command runs in the background, or ctx ends.
func (t *tally) awaitJobs(ctx context.Context) {
	t.mu.Lock()
	all := slices.Clone(t.jobs)
	t.mu.Unlock()
	for _, jobs := range all {
		jobs.AwaitAll(ctx)
	}
}

// recordJobs records the commands in the background at the end of the turn.
func (t *tally) recordJobs() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, jobs := range t.jobs {
		t.unreadJobs = append(t.unreadJobs, jobs.Finished()...)
		t.stoppedJobs = append(t.stoppedJobs, jobs.Commands()...)
	}
}

// printStopped prints a line for each command in the background that ended with the run or
// chat.
func (t *tally) printStopped(w io.Writer, with string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.stoppedJobs {
		fmt.Fprintf(w, "zeph-acp: the background command %s was stopped: it ends with the %s\n", headless.Visible(c), with)
	}
}

// endTurn waits for the commands in the background after a turn that ended by itself, for as long as
// --wait-jobs permits, and records which of them are stopped.
func (r *Runner) endTurn(ctx context.Context, stop acp.StopReason, err error) {
	if running := r.tally.running(); len(running) > 0 && r.WaitJobs > 0 && stop == acp.StopEndTurn && err == nil {
		r.say(fmt.Sprintf("Waiting for %s in the background, up to %s (--wait-jobs): %s",
			quantity.Count(len(running), "command"), r.WaitJobs, running[0]))
		waiting, cancel := context.WithTimeout(ctx, r.WaitJobs)
		r.tally.awaitJobs(waiting)
		cancel()
	}
	r.tally.recordJobs()
}

// say prints a message on the screen, unless the output is quiet or for programs.
func (r *Runner) say(text string) {
	if s := r.user.Screen; s != nil && !r.Quiet && !r.JSON {
		s.Say(text)
	}
}

// printLosses prints a line for each thing that a script must not miss: calls that were denied,
// commands in the background whose end the model has not seen, and output that is lost. inCards
// means that the cards of the calls on the same terminal have shown the denied ones. A command that
// succeeded is left out if quiet.
func (t *tally) printLosses(w io.Writer, inCards, quiet bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := func(format string, args ...any) {
		fmt.Fprintf(w, "zeph-acp: %s\n", headless.Visible(fmt.Sprintf(format, args...)))
	}
	for _, d := range t.deniedInOrder() {
		if !inCards {
			line("denied: %s %s: %s", d.Tool, d.Title, d.Reason)
		}
	}
	for _, title := range t.lostOutput {
		line("a part of the output of %s is lost", title)
	}
	for _, f := range t.unreadJobs {
		if !quiet || f.State != "exit 0" {
			line("%s The model has not seen its end.", f.Text())
		}
	}
}

// deniedInOrder returns the denied calls in the order in which they were announced, since
// concurrent ones end in any order. The caller holds mu.
func (t *tally) deniedInOrder() []deniedCall {
	return slices.SortedStableFunc(slices.Values(t.denied), func(a, b deniedCall) int { return t.callOrder[a.ID] - t.callOrder[b.ID] })
}

// jobsError returns the error of a run that stopped commands in the background; cause is the cause
// of its cancellation, nil if it was not cancelled.
func (t *tally) jobsError(cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.stoppedJobs) == 0 {
		return nil
	}
	if got, ok := errors.AsType[cli.SignalError](cause); ok {
		return &cli.ExitError{Code: 128 + int(got)}
	}
	return &cli.ExitError{Code: exitStopped, Cause: fmt.Errorf("%s in the background did not end in time (--wait-jobs)", quantity.Count(len(t.stoppedJobs), "command"))}
}
