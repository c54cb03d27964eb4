package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/tasks"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// closeTasks limits the wait for a scheduled task when the process ends. Its run continues
// in another process.
const closeTasks = 700 * time.Millisecond

// Tasks returns the runner of scheduled tasks. The tasks are run by a.RunTask.
func (a *App) Tasks() *tasks.Runner {
	return &tasks.Runner{
		Store: a.Store, Config: a.Config.Tools.Scheduler, Holder: a.NewID(), Now: a.Now, Log: a.Log,
		Run: a.RunTask, Ended: a.taskEnded,
	}
}

// runner returns the runner that runs tasks when they are due; nil if this process runs no
// tasks.
func (a *App) runner() *tasks.Runner {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tasks == nil && a.RunTask != nil && a.Store != nil && a.Config.Tools.Scheduler.Enabled {
		a.tasks = a.Tasks()
	}
	return a.tasks
}

// TaskServer returns a server for the run of a task, which has no user, with the task's
// model as the default one. If a model wrote the task, the run has the labels of the session
// that set it. end stops the tools of the run.
func (a *App) TaskServer(task store.Task) (server *acp.Server, end func()) {
	sessions := a.Sessions()
	sessions.Unattended = true
	model, standard := sessions.Model, a.TaskModel(task)
	sessions.Model = func(name string) (llm.Model, error) { return model(cmp.Or(name, standard)) }
	open := sessions.NewAgent
	sessions.NewAgent = func(s session.Host) (session.AgentSession, error) {
		o, err := open(s)
		if f, ok := o.Tools.(*sessionFeatures); ok && !task.Typed {
			f.flow.Add(a.labelsOf(context.Background(), task.Session))
		}
		return o, err
	}
	return a.server(sessions), func() {
		sessions.CloseTools()
		sessions.Finish()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sessions = slices.DeleteFunc(a.sessions, func(s *session.Sessions) bool { return s == sessions })
	}
}

// TaskModel returns the name of the model that runs a task: the configured model, else the
// model of the session that set the task. It is empty for the default model, which also
// replaces a session's model that can no longer be used.
func (a *App) TaskModel(task store.Task) string {
	if name := a.Config.Tools.Scheduler.Provider; name != "" {
		return name
	}
	if sessions := a.Sessions(); task.Model != "" && sessions.Offers(task.Model) {
		if _, err := sessions.Model(task.Model); err == nil {
			return task.Model
		}
	}
	return ""
}

// modelTaskPrefix begins the prompt of a task that a model wrote.
const modelTaskPrefix = "[Scheduled task "

// TaskPrompt returns the first prompt of a run. A prompt written by a model is marked, so that
// it is not mistaken for the user's words.
func TaskPrompt(t store.Task) string {
	if t.Typed {
		return t.Prompt
	}
	return fmt.Sprintf("%s%q, set earlier by an agent. It runs without a user: no one answers questions, "+
		"and calls that need permission are refused. End with a short report, which the user reads later.]\n\n%s", modelTaskPrefix, t.Name, t.Prompt)
}

// labelsOf returns the labels of the information flow of a stored session.
func (a *App) labelsOf(ctx context.Context, id string) json.RawMessage {
	_, events, _, err := a.Sessions().Stored(ctx, id)
	if err != nil { // it was deleted
		return flow.Both("a session that is not stored")
	}
	var labels json.RawMessage
	for _, e := range events {
		if e, ok := e.(transcript.State); ok && e.Name == flow.Name {
			labels = e.Value
		}
	}
	return labels
}
