package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/infoflow"
	"github.com/zeph-acp/zeph-acp/executors/schedule"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/tasks"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// closeTasks limits the wait for a scheduled task when the process ends. Its run goes on in
// another process.
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
	sessions.NewAgent = func(s session.Setup) (session.Opening, error) {
		o, err := open(s)
		if k, ok := o.Tools.(*keeper); ok && !task.Typed {
			k.gates.flow.Add(a.labelsOf(context.Background(), task.Session))
		}
		return o, err
	}
	return a.server(sessions), func() {
		sessions.CloseTools()
		sessions.Finish()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.served = slices.DeleteFunc(a.served, func(s *session.Sessions) bool { return s == sessions })
	}
}

// TaskModel returns the name of the model for the run of a task: the configured one, else
// that of the session that set the task. It is empty for the default one, which also
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

// taskMark begins the prompt of a task that a model wrote.
const taskMark = "[Scheduled task "

// TaskPrompt returns the first prompt of a run. A text of the model is marked, so that it
// is not taken for words of the user.
func TaskPrompt(t store.Task) string {
	if t.Typed {
		return t.Prompt
	}
	return fmt.Sprintf("%s%q, set earlier by an agent. It runs without a user: no one answers questions, and calls that need permission are refused. End with a short report, which the user reads later.]\n\n%s", taskMark, t.Name, t.Prompt)
}

// labelsOf returns the labels of the information flow of a stored session.
func (a *App) labelsOf(ctx context.Context, id string) json.RawMessage {
	_, events, _, err := a.Sessions().Stored(ctx, id)
	if err != nil { // it was deleted
		return infoflow.Both("a session that is not stored")
	}
	var labels json.RawMessage
	for _, e := range events {
		if e, ok := e.(transcript.State); ok && e.Name == infoflow.Name {
			labels = e.Value
		}
	}
	return labels
}

// alone reports whether a session has no user to ask.
func (a *App) alone(s session.Setup) bool { return a.Alone || s.Unattended }

// scheduled are the tools of scheduled tasks of a session, and the results of its tasks
// that were not told yet.
type scheduled struct {
	*schedule.Executor // nil if the tools are off
	app                *App
	setup              session.Setup
	flow               *infoflow.Flow

	mu   sync.Mutex
	asks bool // the session may have set tasks
	told positions
}

// positions are the last results that the user and the model were told, as a session's
// transcript keeps them.
type positions struct {
	User  int64 `json:"user"`
	Model int64 `json:"model"`
}

// taskState is the name of [positions] in the transcript.
const taskState = "tasks"

const (
	// maxResult bounds the result of a task that a model reads, in characters.
	maxResult = 4000
	// maxShown bounds the result of a task that the user sees, in characters.
	maxShown = 600
	// maxTold is the number of results that are shown at once, the last ones.
	maxTold = 3
)

// scheduled returns the scheduled tasks of a session.
func (a *App) scheduled(cfg config.Config, s session.Setup, flow *infoflow.Flow) *scheduled {
	t := &scheduled{app: a, setup: s, flow: flow, asks: s.Resumed && a.Store != nil}
	if !cfg.Tools.Scheduler.Enabled || s.Unattended || a.Store == nil && a.checking == nil {
		return t
	}
	t.Executor = schedule.New(&schedule.Executor{
		Store: tasks.ToolStore{DB: a.Store}, Config: cfg.Tools.Scheduler, CWD: s.CWD, Session: s.ID, Now: a.Now,
		Mode: func(wanted string) (string, error) { return a.taskMode(cfg, s, wanted) }, Changed: t.changed,
		Model: func() string {
			if m := s.Model(); m != nil && !isDirect(m) {
				return m.Name()
			}
			return ""
		},
	})
	if a.checking != nil || s.State(taskState) != nil {
		t.Offer()
	}
	return t
}

// Tools lists the tools if they are on and offered.
func (t *scheduled) Tools() []executors.Tool {
	if t.Executor == nil {
		return nil
	}
	return t.Executor.Tools()
}

// offerFor offers the tools if a prompt seems to be about a later time.
func (t *scheduled) offerFor(prompt string) {
	if t.Executor != nil {
		t.Heed(prompt)
	}
}

// changed is called after a task of the session was set or removed.
func (t *scheduled) changed() {
	t.mu.Lock()
	t.asks = true
	t.save()
	t.mu.Unlock()
	t.app.runner().Changed()
}

// save records the positions; the caller holds mu.
func (t *scheduled) save() { t.setup.Record(t.state()) }

// state returns the positions as an event; the caller holds mu.
func (t *scheduled) state() transcript.Event {
	value, err := json.Marshal(t.told)
	if err != nil { // two numbers
		panic(err)
	}
	return transcript.State{Name: taskState, Value: value}
}

// taskMode returns the mode of a task, which is never looser than that of the session.
func (a *App) taskMode(cfg config.Config, s session.Setup, wanted string) (string, error) {
	var names []string
	for _, m := range a.modes() { // the strictest first
		names = append(names, m.ID)
		if m.ID == s.Mode() {
			break
		}
	}
	switch {
	case wanted == "" && slices.Contains(names, cfg.Agent.Mode):
		return cfg.Agent.Mode, nil
	case wanted == "":
		return names[len(names)-1], nil
	case !slices.Contains(names, wanted):
		return "", fmt.Errorf("%q is not among the modes that this session may pass on: %s", wanted, strings.Join(names, ", "))
	}
	return wanted, nil
}

// news returns the results of the session's tasks that were not told yet.
func (t *scheduled) news(ctx context.Context, direct bool) (n agent.News) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asks {
		return n
	}
	t.recall()
	results, set, err := t.app.Store.Results(ctx, t.setup.ID, min(t.told.User, t.told.Model))
	if err != nil {
		t.app.Log.Debug("results of scheduled tasks", "session", t.setup.ID, "err", err)
		return n
	}
	t.asks = set
	was := t.told
	var user, model []string
	for _, r := range newest(results, was.User) {
		user = append(user, t.app.endedText(r.Task, r.Run)+"\n\n"+quoted(bounded(r.Result, maxShown)))
		t.told.User = r.Position
	}
	if !direct {
		for _, r := range newest(results, was.Model) {
			t.flow.Add(t.app.labelsOf(ctx, r.Session))
			model = append(model, fmt.Sprintf("[%s This is its result, and no request of the user:]\n%s\n[end of the result]", t.app.endedText(r.Task, r.Run), bounded(r.Result, maxResult)))
			t.told.Model = r.Position
		}
	}
	n.User, n.Model = strings.Join(user, "\n\n"), strings.Join(model, "\n")
	if t.told != was {
		n.Events = append(n.Events, t.state())
	}
	return n
}

// recall adopts the positions of the transcript: another process may have told more. The
// caller holds mu.
func (t *scheduled) recall() {
	var stored positions
	if err := json.Unmarshal(t.setup.State(taskState), &stored); err == nil {
		t.told.User, t.told.Model = max(t.told.User, stored.User), max(t.told.Model, stored.Model)
	}
}

// newest returns the last results after a position.
func newest(results []store.Result, after int64) []store.Result {
	results = slices.DeleteFunc(slices.Clone(results), func(r store.Result) bool { return r.Position <= after })
	return results[max(0, len(results)-maxTold):]
}

// quoted returns a text as a Markdown quotation.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

func bounded(text string, limit int) string {
	text, _ = executors.Bound(text, limit, false)
	return strings.TrimSpace(text)
}

// endedText says how a run ended.
func (a *App) endedText(task string, r store.Run) string {
	return fmt.Sprintf("The scheduled task %q ended at %s: %s.", task, r.Ended.In(a.Config.Tools.Scheduler.Location()).Format("2006-01-02 15:04"), r.Outcome)
}

// noticed shows a notice about a result unless the user was told already. The next turn
// shows it again if there are earlier results that the user has not seen.
func (t *scheduled) noticed(r store.Run, show func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recall()
	if r.Position <= t.told.User || !show() {
		return
	}
	pending, _, err := t.app.Store.Results(context.Background(), t.setup.ID, t.told.User)
	if err == nil && len(pending) == 1 {
		t.told.User = r.Position
		t.save()
	}
}

// taskEnded shows the end of a run to the user of the session that set the task, if that
// session is open here.
func (a *App) taskEnded(task store.Task, r store.Run) {
	for _, sessions := range a.serving() {
		tools, err := sessions.Tools(task.Session)
		if err != nil {
			continue
		}
		if k, ok := tools.(*keeper); ok {
			k.tasks.noticed(r, func() bool {
				text := a.endedText(task.Name, r) + " " + executors.WholeLine(bounded(r.Result, 300))
				return sessions.Notify(context.Background(), task.Session, strings.TrimSpace(text))
			})
		}
	}
}
