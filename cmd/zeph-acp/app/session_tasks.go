package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/tasks"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// sessionTasks are the tools for scheduled tasks of one session. It also reports the results
// of the session's tasks to the user and to the model, each once.
type sessionTasks struct {
	*schedule.Executor // nil if the tools are off
	app                *App
	setup              session.Host
	flow               *flow.Flow

	mu           sync.Mutex
	mayHaveTasks bool // the session may have set tasks, so news looks for results
	reported     reportedPositions
}

// reportedPositions are the positions of the last results that the user and the model have
// seen. The transcript of the session keeps them.
type reportedPositions struct {
	User  int64 `json:"user"`
	Model int64 `json:"model"`
}

// taskState is the name of [reportedPositions] in the transcript.
const taskState = "tasks"

// newSessionTasks returns the tools for scheduled tasks of a session.
func (b *sessionBuilder) newSessionTasks(labels *flow.Flow) *sessionTasks {
	t := &sessionTasks{app: b.app, setup: b.session, flow: labels, mayHaveTasks: b.session.Resumed && b.app.Store != nil}
	if !b.cfg.Tools.Scheduler.Enabled || b.session.Unattended || b.app.Store == nil && b.app.checking == nil {
		return t
	}
	t.Executor = schedule.New(&schedule.Executor{
		Store: tasks.ToolStore{DB: b.app.Store}, Config: b.cfg.Tools.Scheduler, CWD: b.session.CWD, Session: b.session.ID, Now: b.app.Now,
		Mode: b.taskMode, Changed: t.tasksChanged,
		Model: func() string {
			if m := b.session.Model(); m != nil && !isDirect(m) {
				return m.Name()
			}
			return ""
		},
	})
	if b.app.checking != nil || b.session.State(taskState) != nil {
		t.Offer()
	}
	return t
}

// tasksFeature has the tools for scheduled tasks.
func (b *sessionBuilder) tasksFeature(t *sessionTasks) Feature {
	return Feature{
		Name: "schedule", Tools: t, Late: true, News: t.news,
		BeforeTurn: func() { b.app.runner().Poll() },
		Ready:      func(_ context.Context, typed string) { t.offerFor(typed) },
	}
}

// Tools lists the tools if they are on and offered.
func (t *sessionTasks) Tools() []executors.Tool {
	if t.Executor == nil {
		return nil
	}
	return t.Executor.Tools()
}

// offerFor offers the tools if a prompt seems to be about a later time.
func (t *sessionTasks) offerFor(prompt string) {
	if t.Executor != nil {
		t.OfferFor(prompt)
	}
}

// tasksChanged is called after a task of the session was set or removed.
func (t *sessionTasks) tasksChanged() {
	t.mu.Lock()
	t.mayHaveTasks = true
	t.save()
	t.mu.Unlock()
	t.app.runner().Changed()
}

// save records the reported positions; the caller holds mu.
func (t *sessionTasks) save() { t.setup.Record(t.state()) }

// state returns the reported positions as an event; the caller holds mu.
func (t *sessionTasks) state() transcript.Event {
	value, err := json.Marshal(t.reported)
	if err != nil { // two numbers
		panic(err)
	}
	return transcript.State{Name: taskState, Value: value}
}

// taskMode returns the mode of a task, which is never looser than the session's mode.
func (b *sessionBuilder) taskMode(wanted string) (string, error) {
	var names []string
	for _, m := range b.app.modes() { // the strictest first
		names = append(names, m.ID)
		if m.ID == b.session.Mode() {
			break
		}
	}
	switch {
	case wanted == "" && slices.Contains(names, b.cfg.Agent.Mode):
		return b.cfg.Agent.Mode, nil
	case wanted == "":
		return names[len(names)-1], nil
	case !slices.Contains(names, wanted):
		return "", fmt.Errorf("%q is not among the modes that this session may pass on: %s", wanted, strings.Join(names, ", "))
	}
	return wanted, nil
}

const (
	// maxResult bounds the result of a task that a model reads, in characters.
	maxResult = 4000
	// maxShown bounds the result of a task that the user sees, in characters.
	maxShown = 600
	// maxResults is the number of results that are reported at once, the last ones.
	maxResults = 3
)

// news returns the results of the session's tasks that were not reported yet. In a direct turn
// no model sees them.
func (t *sessionTasks) news(ctx context.Context, direct bool) (n agent.News) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.mayHaveTasks {
		return n
	}
	t.mergeReported()
	results, set, err := t.app.Store.Results(ctx, t.setup.ID, min(t.reported.User, t.reported.Model))
	if err != nil {
		t.app.Log.Debug("results of scheduled tasks", "session", t.setup.ID, "err", err)
		return n
	}
	t.mayHaveTasks = set
	was := t.reported
	var user, model []string
	for _, r := range newestAfter(results, was.User) {
		user = append(user, t.app.endedText(r.Task, r.Run)+"\n\n"+quoted(bounded(r.Result, maxShown)))
		t.reported.User = r.Position
	}
	if !direct {
		for _, r := range newestAfter(results, was.Model) {
			t.flow.Add(t.app.labelsOf(ctx, r.Session))
			model = append(model, fmt.Sprintf("[%s This is its result, and not a request of the user:]\n%s\n[end of the result]",
				t.app.endedText(r.Task, r.Run), bounded(r.Result, maxResult)))
			t.reported.Model = r.Position
		}
	}
	n.User, n.Model = strings.Join(user, "\n\n"), strings.Join(model, "\n")
	if t.reported != was {
		n.Events = append(n.Events, t.state())
	}
	return n
}

// mergeReported adopts later positions of the transcript: another process may have reported
// more. The caller holds mu.
func (t *sessionTasks) mergeReported() {
	var stored reportedPositions
	if err := json.Unmarshal(t.setup.State(taskState), &stored); err == nil {
		t.reported.User, t.reported.Model = max(t.reported.User, stored.User), max(t.reported.Model, stored.Model)
	}
}

// newestAfter returns the last results after a position.
func newestAfter(results []store.Result, after int64) []store.Result {
	results = slices.DeleteFunc(slices.Clone(results), func(r store.Result) bool { return r.Position <= after })
	return results[max(0, len(results)-maxResults):]
}

// quoted returns a text as a Markdown quotation.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// bounded returns at most limit characters of a text.
func bounded(text string, limit int) string {
	text, _ = executors.Bound(text, limit)
	return strings.TrimSpace(text)
}

// endedText returns a sentence about the end of a run.
func (a *App) endedText(task string, r store.Run) string {
	at := r.Ended.In(a.Config.Tools.Scheduler.Location()).Format("2006-01-02 15:04")
	return fmt.Sprintf("The scheduled task %q ended at %s: %s.", task, at, r.Outcome)
}

// notifyOnce shows a notice about a result unless the user has seen the result. The next
// turn shows it again if there are earlier results that the user has not seen.
func (t *sessionTasks) notifyOnce(r store.Run, show func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mergeReported()
	if r.Position <= t.reported.User || !show() {
		return
	}
	pending, _, err := t.app.Store.Results(context.Background(), t.setup.ID, t.reported.User)
	if err == nil && len(pending) == 1 {
		t.reported.User = r.Position
		t.save()
	}
}

// taskEnded shows the end of a run to the user of the session that set the task, if that
// session is open here.
func (a *App) taskEnded(task store.Task, r store.Run) {
	for _, sessions := range a.allSessions() {
		tools, err := sessions.Tools(task.Session)
		if err != nil {
			continue
		}
		if s, ok := tools.(*sessionFeatures); ok {
			s.tasks.notifyOnce(r, func() bool {
				text := a.endedText(task.Name, r) + " " + executors.WholeLine(bounded(r.Result, 300))
				return sessions.Notify(context.Background(), task.Session, strings.TrimSpace(text))
			})
		}
	}
}
