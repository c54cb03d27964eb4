package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/schedule/cron"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type periodicInput struct {
	Name string `json:"name" jsonschema:"minLength=1,maxLength=128"`
	Cron string `json:"cron" jsonschema:"minLength=1,maxLength=64"`
	Task string `json:"task" jsonschema:"minLength=1,maxLength=4000"`
	Mode string `json:"mode,omitempty"`
}

type deferredInput struct {
	Name  string `json:"name" jsonschema:"minLength=1,maxLength=128"`
	RunAt string `json:"run_at" jsonschema:"minLength=1,maxLength=64"`
	Task  string `json:"task" jsonschema:"minLength=1,maxLength=4000"`
	Mode  string `json:"mode,omitempty"`
}

// comparedRuns is the number of runs whose intervals are compared with the shortest
// permitted one.
const comparedRuns = 100

// NewTask is a task to set, by Cron periodically or At a time once. An empty Mode means the default one.
type NewTask struct{ Name, Cron, At, Task, Mode string }

func (in periodicInput) wanted() NewTask {
	return NewTask{Name: in.Name, Cron: in.Cron, Task: in.Task, Mode: in.Mode}
}

func (in deferredInput) wanted() NewTask {
	return NewTask{Name: in.Name, At: in.RunAt, Task: in.Task, Mode: in.Mode}
}

// Add sets a task for the user, outside of a session, and returns a sentence about it.
func (e *Executor) Add(ctx context.Context, in NewTask) (string, error) {
	res, err := e.set(ctx, &executors.Call{Origin: executors.User}, in)
	if err == nil && res.Failure != nil {
		err = errors.New(res.Failure.Message)
	}
	return res.Text, err
}

func (e *Executor) preparePeriodic(_ context.Context, call *executors.Call, in *periodicInput) (executors.Card, error) {
	return e.prepare(call, in.wanted())
}

func (e *Executor) prepareDeferred(_ context.Context, call *executors.Call, in *deferredInput) (executors.Card, error) {
	return e.prepare(call, in.wanted())
}

func (e *Executor) periodic(ctx context.Context, call *executors.Call, in *periodicInput) (executors.Result, error) {
	return e.set(ctx, call, in.wanted())
}

func (e *Executor) deferred(ctx context.Context, call *executors.Call, in *deferredInput) (executors.Result, error) {
	return e.set(ctx, call, in.wanted())
}

// prepare returns the card of a task, with all that the user has to check.
func (e *Executor) prepare(call *executors.Call, in NewTask) (executors.Card, error) {
	card := executors.Card{Title: "Schedule " + executors.Titled(executors.WholeLine(in.Name)), Kind: executors.KindOther, Deferred: true}
	t, err := e.task(call, in)
	if err != nil {
		return card, err
	}
	when := "at " + formatTime(t.Next)
	if t.Cron != "" {
		when = fmt.Sprintf("%s, first at %s", t.Cron, formatTime(t.Next))
	}
	card.Title += " " + executors.Quoted(when+" in mode "+t.Mode) + " " + executors.Quoted(executors.WholeLine(t.Prompt))
	return card, nil
}

// task returns the task that the input describes.
func (e *Executor) task(call *executors.Call, in NewTask) (Task, error) {
	t := Task{
		CWD: e.CWD, Name: clean(in.Name), Session: e.Session, Prompt: clean(in.Task),
		Typed: call.Origin == executors.User,
	}
	if t.Name == "" || strings.ContainsRune(t.Name, '\n') {
		return t, executors.Failuref(executors.InvalidParameters, "name: want a name on one line")
	}
	if t.Prompt == "" {
		return t, executors.Failuref(executors.InvalidParameters, "task: want the prompt of the run")
	}
	mode, err := e.Mode(in.Mode)
	if err != nil {
		return t, executors.Failuref(executors.InvalidParameters, "mode: %v", err)
	}
	t.Mode, t.Model = mode, e.Model()
	if in.At != "" {
		t.Next, err = parseTime(in.At, e.now())
	} else {
		t.Cron = line.Join(in.Cron)
		t.Next, err = e.firstRun(t.Cron)
	}
	if err != nil {
		return t, executors.Failuref(executors.InvalidParameters, "%v", err)
	}
	return t, nil
}

// firstRun returns when an expression is due for the first time. It refuses one that is due
// too often.
func (e *Executor) firstRun(expression string) (time.Time, error) {
	x, err := cron.Parse(expression)
	if err != nil {
		return time.Time{}, fmt.Errorf("cron %q: %w", expression, err)
	}
	now := e.now()
	first := x.Next(now)
	if first.IsZero() {
		return first, fmt.Errorf("cron %q: no such date comes", expression)
	}
	least := time.Duration(e.Config.MinIntervalMinutes) * time.Minute
	for t, n := first, 0; n < comparedRuns; n++ {
		next := x.Next(t)
		if next.IsZero() {
			break
		}
		if d := next.Sub(t); d < least {
			return first, fmt.Errorf("cron %q: runs would be %s apart, and tools.scheduler.min_interval_minutes = %d",
				expression, quantity.Count(int(d.Seconds()), "second"), e.Config.MinIntervalMinutes)
		}
		t = next
	}
	return first, nil
}

// set stores the task of a call, in place of the one with its name.
func (e *Executor) set(ctx context.Context, call *executors.Call, in NewTask) (executors.Result, error) {
	t, err := e.task(call, in)
	if err != nil {
		return executors.FailWith(err), nil
	}
	replaced, err := e.Store.Put(ctx, t, e.Config.MaxTasks)
	switch {
	case errors.Is(err, ErrTooMany):
		return executors.Failuref(executors.PolicyBlocked, "the limit of %s (tools.scheduler.max_tasks) is reached", quantity.Count(e.Config.MaxTasks, "task")).
			Hint("Ask the user which task to remove.").Result(), nil
	case err != nil:
		return e.storeFailure(ctx, err)
	}
	e.Changed()
	verb := "Set"
	if replaced {
		verb = "Replaced"
	}
	again := ""
	if t.Cron != "" {
		again = fmt.Sprintf(", then by the cron expression %q", t.Cron)
	}
	return executors.Result{
		Text: fmt.Sprintf("%s the task %q: it runs %s%s, in mode %s, while an agent runs.", verb, t.Name,
			formatTime(t.Next), again, t.Mode),
		Raw: map[string]any{"name": t.Name, "next": t.Next.UTC()},
	}, nil
}

// clean removes control characters other than line breaks and tabs from a text, and those
// that change the direction of text.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text))
}
