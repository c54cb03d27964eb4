package schedule

import (
	"context"
	"errors"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/tasks"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// TaskRun makes runs of scheduled tasks, each as a headless turn without a user.
type TaskRun struct {
	App     *app.App
	Environ []string
	view    headless.View // nil shows nothing
}

// maxTaskResult bounds the result of a run that is stored with the task, in characters. The
// session of the run has all of it.
const maxTaskResult = 20_000

// resumePrompt is the prompt of a run that another process began.
const resumePrompt = "[The process that ran this scheduled task ended before the task was done. Go on with it. " +
	"The calls above that have a result were made; one without a result may have been made. Repeat nothing that is done.]"

// Run makes a run. If another process began it, run continues where the session's log ends.
func (r TaskRun) Run(ctx context.Context, j tasks.Job) tasks.Report {
	before := r.last(ctx, j.Run.Session)
	prompt, resume := app.TaskPrompt(j.Task), ""
	switch {
	case before.Begun && before.End != nil && before.End.Reason != acp.StopCancelled:
		return taskReport(j, before) // only its end was not stored
	case before.Begun && isCall(j):
		return tasks.Report{Outcome: tasks.Interrupted, Result: "The process ended during this run. A tool call of the user is not repeated."}
	case before.Begun:
		prompt, resume = resumePrompt, j.Run.Session
	case !isCall(j) && r.App.IsDirect(r.App.TaskModel(j.Task)):
		return tasks.Report{Outcome: tasks.Failed, Result: "No model is configured."}
	}
	session := ""
	server, end := r.App.TaskServer(j.Task)
	defer end()
	turn := &headless.Turn{
		Server: server, Dir: j.Task.CWD, Mode: j.Task.Mode, Resume: resume, Prompt: []acp.ContentBlock{acp.TextBlock(prompt)}, Env: r.Environ,
		View: r.view, Approver: &headless.User{}, Scan: r.App.Scanner(j.Task.CWD), Reaper: r.App.Reaper,
		Started: func(id string) error {
			session = id
			return j.Started(id)
		},
	}
	if turn.View == nil {
		turn.View = headless.NoView{}
	}
	_, err := turn.Run(ctx)
	if last := r.last(context.WithoutCancel(ctx), session); last.Begun && last.End != nil {
		return taskReport(j, last)
	}
	return tasks.Report{Outcome: tasks.Failed, Result: turnFailure(err)}
}

// last returns the last turn of a stored session; it has not begun if the session is not
// stored.
func (r TaskRun) last(ctx context.Context, session string) transcript.Last {
	if session == "" {
		return transcript.Last{}
	}
	_, events, _, err := r.App.Sessions().Stored(ctx, session)
	if err != nil {
		return transcript.Last{}
	}
	return transcript.LastTurn(events)
}

// isCall reports whether the task is a tool call that the user typed.
func isCall(j tasks.Job) bool { return j.Task.Typed && strings.HasPrefix(j.Task.Prompt, "/") }

// taskReport returns the report about a turn that ended. The result of a call is its output, or
// the last text if it failed without an output.
func taskReport(j tasks.Job, last transcript.Last) tasks.Report {
	r := tasks.Report{Outcome: tasks.Done, Result: last.Text}
	switch {
	case last.End.Error != "":
		r = tasks.Report{Outcome: tasks.Failed, Result: last.End.Error}
	case last.End.Reason != acp.StopEndTurn:
		r.Outcome = tasks.Stopped
	case isCall(j) && len(last.Results) > 0:
		var texts []string
		for _, c := range last.Results {
			if c.Failed {
				r.Outcome = tasks.Failed
			}
			if !strings.HasPrefix(c.Text, "[tool_error]") { // which is for models
				texts = append(texts, c.Text)
			}
		}
		if len(texts) > 0 {
			r.Result = executors.JoinLines(texts...)
		}
	}
	r.Result, _ = executors.Bound(r.Result, maxTaskResult)
	return r
}

// turnFailure returns the reason why a turn could not begin.
func turnFailure(err error) string {
	refused, answered := errors.AsType[*jsonrpc2.Error](err)
	switch {
	case answered:
		return refused.Message
	case err != nil:
		return err.Error()
	}
	return "the session has no record of the turn"
}
