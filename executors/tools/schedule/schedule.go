// Package schedule offers the tools that set, list and remove scheduled tasks. A task is a
// prompt that runs later, once or periodically, in its own session.
//
// Start with an [Executor]. A task belongs to the directory of its session, where its name
// is unique: setting it again replaces it. The user is asked about each task with its whole
// text, since it runs unattended; no "always" covers that. The mode of a task is never
// looser than the mode of its session. Package session/tasks runs the tasks.
//
// Why are the tools offered only after certain words? Their definitions cost tokens in every
// request, and few conversations need them. [Executor.OfferFor] searches the prompt for words about
// times, in the languages of cues.txt. Once offered, the tools stay until the session ends.
package schedule

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

var (
	//go:embed schedule_periodic.md
	periodicText string
	//go:embed schedule_deferred.md
	deferredText string
	//go:embed list_tasks.md
	listText string
	//go:embed cancel_task.md
	cancelText string
)

// Task is a scheduled task. Name and CWD identify it.
type Task struct {
	CWD     string
	Name    string
	Session string // that sets it
	Cron    string // empty for a task that runs once
	Prompt  string
	Mode    string
	Model   string    // of the session that sets it; empty means the default one
	Typed   bool      // the user wrote the prompt
	Next    time.Time // when it is due; zero means never again
	Last    Outcome   // of its newest run; zero means no run
}

// Outcome is how a run of a task ended.
type Outcome struct {
	Started time.Time
	Ended   time.Time // zero while it runs
	Result  string    // such as "done"
}

// ErrTooMany reports that no more tasks may be set.
var ErrTooMany = errors.New("too many tasks")

// Store keeps the tasks.
type Store interface {
	// Put stores a task in place of the one with its name and directory. It returns
	// ErrTooMany if the task is new and the limit is reached.
	Put(ctx context.Context, t Task, most int) (replaced bool, err error)
	// List returns the tasks of a directory.
	List(ctx context.Context, cwd string) ([]Task, error)
	// Delete removes a task, and reports whether it existed.
	Delete(ctx context.Context, cwd, name string) (bool, error)
}

// Executor offers the tools of one session. Its exported fields are required, and must not
// change after the first use.
type Executor struct {
	Store   Store
	Config  Config
	CWD     string // of the session
	Session string
	Now     func() time.Time
	// Mode returns the mode of a task if one is wanted, else the default one. Its error
	// names the permitted modes.
	Mode    func(wanted string) (string, error)
	Model   func() string // returns the session's model; empty if it has none
	Changed func()        // called after a task was set or removed

	offered atomic.Bool
	tools   func() executors.Registry // made when they are first needed
}

// New returns e with its tools.
func New(e *Executor) *Executor {
	e.tools = sync.OnceValue(e.registry)
	return e
}

func (e *Executor) registry() executors.Registry {
	tool := func(name, text string, effect executors.Effect) executors.Tool {
		return executors.Tool{Name: name, Description: strings.TrimSpace(text), Effect: effect, Kind: executors.KindOther}
	}
	deferred := tool("schedule_deferred", deferredText, executors.Mutates)
	return executors.Registry{
		executors.Bind(tool("schedule_periodic", periodicText, executors.Mutates), e.preparePeriodic, e.periodic),
		executors.Bind(deferred, e.prepareDeferred, e.deferred),
		executors.Bind(executors.Tool{
			Name: "list_tasks", Description: strings.TrimSpace(listText),
			Effect: executors.Reads | executors.Idempotent, Kind: executors.KindRead,
		}, prepareList, e.list),
		executors.Bind(tool("cancel_task", cancelText, executors.Mutates), e.prepareCancel, e.cancel),
	}
}

// Catalogue returns the tools of a session that is offered them.
func Catalogue() executors.Executor { return New(&Executor{}).tools() }

// Tools returns the tools once the session was offered them.
func (e *Executor) Tools() []executors.Tool {
	if !e.offered.Load() {
		return nil
	}
	return e.tools().Tools()
}

// Prepare implements executors.Executor.
func (e *Executor) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return e.tools().Prepare(ctx, call)
}

// Execute implements executors.Executor.
func (e *Executor) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return e.tools().Execute(ctx, call)
}

// Offer offers the tools from now on.
func (e *Executor) Offer() { e.offered.Store(true) }

// now returns the current time in the zone in which times are read.
func (e *Executor) now() time.Time { return e.Now().In(e.Config.Location()) }

type listInput struct{}

func prepareList(context.Context, *executors.Call, *listInput) (executors.Card, error) {
	return executors.Card{Title: "List the scheduled tasks", Kind: executors.KindRead}, nil
}

func (e *Executor) list(ctx context.Context, _ *executors.Call, _ *listInput) (executors.Result, error) {
	all, err := e.Store.List(ctx, e.CWD)
	if err != nil {
		return e.storeFailure(ctx, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Now: %s\n", formatTime(e.now()))
	if len(all) == 0 {
		b.WriteString("No task is scheduled in this project.\n")
	}
	for _, t := range all {
		fmt.Fprintf(&b, "- %s\n", e.describe(t))
	}
	return executors.Result{Text: b.String(), Raw: map[string]int{"tasks": len(all)}}, nil
}

// describe returns a task on one line.
func (e *Executor) describe(t Task) string {
	loc := e.Config.Location()
	when := "not due again"
	if !t.Next.IsZero() {
		when = "next " + formatTime(t.Next.In(loc))
	}
	if t.Cron != "" {
		when = fmt.Sprintf("cron %q, %s", t.Cron, when)
	}
	switch {
	case t.Last.Started.IsZero():
	case t.Last.Ended.IsZero():
		when += "; runs since " + formatTime(t.Last.Started.In(loc))
	default:
		when += fmt.Sprintf("; last %s %s", t.Last.Result, formatTime(t.Last.Ended.In(loc)))
	}
	prompt := line.TruncateRunes(executors.WholeLine(t.Prompt), 200)
	return fmt.Sprintf("%s: %s; mode %s; task: %s", t.Name, when, t.Mode, prompt)
}

type cancelInput struct {
	Name string `json:"name" jsonschema:"minLength=1"`
}

func (e *Executor) prepareCancel(ctx context.Context, _ *executors.Call, in *cancelInput) (executors.Card, error) {
	name := clean(in.Name)
	card := executors.Card{Title: "Remove the scheduled task " + executors.Titled(executors.WholeLine(name)), Kind: executors.KindOther}
	if all, err := e.Store.List(ctx, e.CWD); err == nil && !slices.ContainsFunc(all, func(t Task) bool { return t.Name == name }) {
		return card, noTask(name)
	}
	return card, nil
}

func noTask(name string) *executors.Failure {
	return executors.Failuref(executors.InvalidParameters, "there is no task %q in this project", name).
		Hint("list_tasks returns the names.")
}

func (e *Executor) cancel(ctx context.Context, _ *executors.Call, in *cancelInput) (executors.Result, error) {
	name := clean(in.Name)
	existed, err := e.Store.Delete(ctx, e.CWD, name)
	switch {
	case err != nil:
		return e.storeFailure(ctx, err)
	case !existed:
		return noTask(name).Result(), nil
	}
	e.Changed()
	return executors.Result{Text: fmt.Sprintf("Removed the task %q.", name)}, nil
}

// storeFailure returns the result of a call for which the store failed.
func (e *Executor) storeFailure(ctx context.Context, err error) (executors.Result, error) {
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return executors.Failuref(executors.PermanentFailure, "the tasks cannot be used: %v", err).Result(), nil
}
