package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoTask means that there is no such task or run any more, or that it has changed.
	ErrNoTask = errors.New("no such task")
	// ErrManyTasks means that no more tasks may be due.
	ErrManyTasks = errors.New("too many tasks")
)

// Task is a prompt that runs later, once or periodically. Name and CWD identify it.
type Task struct {
	ID      int64
	CWD     string
	Name    string
	Session string // the session that set it
	Cron    string // empty for a task that runs once
	Prompt  string
	Mode    string
	Model   string    // the model of that session; empty means the default one
	Typed   bool      // the user wrote the prompt
	Next    time.Time // when it is due; zero means never again
	Created time.Time
	Updated time.Time
	Last    Run // the newest run; its ID is 0 if there is no run
}

// Run is one run of a task.
type Run struct {
	ID       int64
	Due      time.Time
	Started  time.Time
	Ended    time.Time // zero until it ends
	Session  string    // of the run; empty until it has one
	Attempts int       // the number of processes that ran it
	Outcome  string
	Result   string
	Position int64 // in the order in which all runs ended, from 1; 0 until it ends
}

const (
	// runsKept is the number of runs that are kept of a task.
	runsKept = 20
	// onceKept is how long a task that runs once is kept after its run.
	onceKept = 30 * 24 * time.Hour
	// runsCounter counts the runs that ended.
	runsCounter = "task_runs"
)

const (
	taskColumns = "t.n, t.cwd, t.name, t.session, t.cron, t.prompt, t.mode, t.model, t.typed, t.next, t.created, t.updated"
	runFields   = "n, due, started, ended, session, attempts, outcome, result, position"
	runColumns  = "r.n, r.due, r.started, r.ended, r.session, r.attempts, r.outcome, r.result, r.position"
	allTasks    = "SELECT " + taskColumns + ", coalesce(r.n, 0), coalesce(r.due, 0), coalesce(r.started, 0), coalesce(r.ended, 0), coalesce(r.session, ''), " +
		"coalesce(r.attempts, 0), coalesce(r.outcome, ''), coalesce(r.result, ''), coalesce(r.position, 0) FROM tasks t " +
		"LEFT JOIN task_runs r ON r.n = (SELECT max(n) FROM task_runs WHERE task = t.n)"
	upsertTask = "INSERT INTO tasks (cwd, name, session, cron, prompt, mode, model, typed, next, created, updated) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?10, ?10) ON CONFLICT (cwd, name) DO UPDATE SET session = excluded.session, cron = excluded.cron, " +
		"prompt = excluded.prompt, mode = excluded.mode, model = excluded.model, typed = excluded.typed, next = excluded.next, updated = excluded.updated"
	nextTask = "SELECT coalesce((SELECT min(next) FROM tasks WHERE next > 0), 0)"
	dueTasks = "SELECT n FROM (SELECT n, next FROM tasks WHERE next > 0 AND next <= ?1 " +
		"UNION SELECT task, 0 FROM task_runs WHERE ended = 0) GROUP BY n ORDER BY min(next), n"
)

// moment is a time in a column.
type moment struct{ *time.Time }

// Scan implements sql.Scanner.
func (m moment) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is not a time", v)
	}
	*m.Time = time.Time{}
	if n != 0 {
		*m.Time = time.UnixMicro(n).UTC()
	}
	return nil
}

// unixMicro returns the form of a time in a column.
func unixMicro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func (t *Task) dest() []any {
	return []any{
		&t.ID, &t.CWD, &t.Name, &t.Session, &t.Cron, &t.Prompt, &t.Mode, &t.Model, &t.Typed,
		moment{&t.Next}, moment{&t.Created}, moment{&t.Updated},
	}
}

func (r *Run) dest() []any {
	return []any{&r.ID, moment{&r.Due}, moment{&r.Started}, moment{&r.Ended}, &r.Session, &r.Attempts, &r.Outcome, &r.Result, &r.Position}
}

// taskLease returns the name of a task's lease; tasks and sessions share the table.
func taskLease(id int64) string { return fmt.Sprintf("task:%d", id) }

// AcquireTask acquires the lease of a task for holder, as Acquire does for a session.
func (db *DB) AcquireTask(ctx context.Context, id int64, holder string) error {
	_, err := db.Acquire(ctx, taskLease(id), holder)
	return err
}

// HeartbeatTask extends the lease of a task, as Heartbeat does for a session.
func (db *DB) HeartbeatTask(ctx context.Context, id int64, holder string) error {
	return db.Heartbeat(ctx, taskLease(id), holder)
}

// ReleaseTask releases the lease of a task, as Release does for a session.
func (db *DB) ReleaseTask(ctx context.Context, id int64, holder string) error {
	return db.Release(ctx, taskLease(id), holder)
}

// PutTask stores a task, in place of the one with its name and directory. It returns
// ErrManyTasks if the task is new and limit tasks will be due already.
func (db *DB) PutTask(ctx context.Context, t Task, limit int) (replaced bool, err error) {
	err = db.write(ctx, func(h *handle) error {
		var id int64
		switch err := h.one([]any{&id}, "SELECT n FROM tasks WHERE cwd = ? AND name = ?", t.CWD, t.Name); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		default:
			replaced = true
		}
		var due int
		if err := h.one([]any{&due}, "SELECT count(*) FROM tasks WHERE next > 0"); err != nil {
			return err
		}
		if !replaced && due >= limit {
			return ErrManyTasks
		}
		now := unixMicro(db.now())
		_, err := h.exec(upsertTask,
			t.CWD, t.Name, t.Session, t.Cron, t.Prompt, t.Mode, t.Model, t.Typed, unixMicro(t.Next), now)
		return err
	})
	return replaced, err
}

// DeleteTask removes a task with its runs. It returns ErrNoTask if it does not exist.
func (db *DB) DeleteTask(ctx context.Context, id int64) error {
	return db.write(ctx, func(h *handle) error {
		return h.change(ErrNoTask, "DELETE FROM tasks WHERE n = ?", id)
	})
}

// Tasks returns the tasks of a directory, or all for "": first those that are due, in the
// order of their times.
func (db *DB) Tasks(ctx context.Context, cwd string) (all []Task, err error) {
	var t Task
	err = db.read(ctx, func(h *handle) error {
		return h.each(ctx, func() error {
			all = append(all, t)
			return nil
		}, append(t.dest(), t.Last.dest()...), allTasks+" WHERE ?1 = '' OR t.cwd = ?1 ORDER BY t.next = 0, t.next, t.cwd, t.name", cwd)
	})
	return all, err
}

// Task returns a task with its newest run, or ErrNoTask.
func (db *DB) Task(ctx context.Context, id int64) (t Task, err error) {
	err = db.read(ctx, func(h *handle) error {
		err := h.one(append(t.dest(), t.Last.dest()...), allTasks+" WHERE t.n = ?", id)
		return replaceNoRows(ErrNoTask, err)
	})
	return t, err
}

// Runs returns the runs of a task, the newest first.
func (db *DB) Runs(ctx context.Context, task int64) (all []Run, err error) {
	var r Run
	err = db.read(ctx, func(h *handle) error {
		return h.each(ctx, func() error {
			all = append(all, r)
			return nil
		}, r.dest(), "SELECT "+runFields+" FROM task_runs WHERE task = ? ORDER BY n DESC", task)
	})
	return all, err
}

// Due returns the tasks that are due at a time, and those whose run has not ended. Next is
// when the first task of all is due; zero means never.
func (db *DB) Due(ctx context.Context, now time.Time) (tasks []int64, next time.Time, err error) {
	err = db.read(ctx, func(h *handle) error {
		if err := h.one([]any{moment{&next}}, nextTask); err != nil {
			return err
		}
		var id int64
		return h.each(ctx, func() error {
			tasks = append(tasks, id)
			return nil
		}, []any{&id}, dueTasks, unixMicro(now))
	})
	return tasks, next, err
}

// BeginRun stores that a run of a task begins, and when the task is due after that. It
// returns ErrNoTask if the task was removed or replaced since it was read.
func (db *DB) BeginRun(ctx context.Context, t Task, next time.Time) (r Run, err error) {
	now := db.now()
	err = db.write(ctx, func(h *handle) error {
		err := h.change(ErrNoTask, "UPDATE tasks SET next = ? WHERE n = ? AND next = ? AND updated = ?",
			unixMicro(next), t.ID, unixMicro(t.Next), unixMicro(t.Updated))
		if err != nil {
			return err
		}
		due := t.Next
		if due.IsZero() || due.After(now) {
			due = now
		}
		return h.one(r.dest(), "INSERT INTO task_runs (task, due, started, ended, session, attempts, outcome, result, position) "+
			"VALUES (?, ?, ?, 0, '', 1, '', '', 0) RETURNING "+runFields, t.ID, unixMicro(due), unixMicro(now))
	})
	return r, err
}

// ContinueRun stores that another process continues a run.
func (db *DB) ContinueRun(ctx context.Context, run int64) error {
	return db.changeRun(ctx, "UPDATE task_runs SET attempts = attempts + 1 WHERE n = ? AND ended = 0", run)
}

// SetRunSession stores the session of a run.
func (db *DB) SetRunSession(ctx context.Context, run int64, session string) error {
	return db.changeRun(ctx, "UPDATE task_runs SET session = ? WHERE n = ? AND ended = 0", session, run)
}

// changeRun changes a run that has not ended, or returns ErrNoTask.
func (db *DB) changeRun(ctx context.Context, query string, args ...any) error {
	return db.write(ctx, func(h *handle) error { return h.change(ErrNoTask, query, args...) })
}

// EndRun stores how a run ended, releases the lease of its task, and removes old runs. It
// returns the run. It returns ErrNoTask if the task was removed.
func (db *DB) EndRun(ctx context.Context, task, run int64, holder, outcome, result string) (r Run, err error) {
	now := unixMicro(db.now())
	err = db.write(ctx, func(h *handle) error {
		err := h.one(r.dest(), "UPDATE task_runs SET ended = ?, outcome = ?, result = ?, "+
			"position = 1 + coalesce((SELECT value FROM counters WHERE name = '"+runsCounter+"'), 0) WHERE n = ? AND ended = 0 RETURNING "+runFields,
			now, outcome, result, run)
		if err != nil {
			return replaceNoRows(ErrNoTask, err)
		}
		for _, change := range []struct {
			query string
			args  []any
		}{
			{"INSERT INTO counters (name, value) VALUES ('" + runsCounter + "', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1", []any{r.Position}},
			{"DELETE FROM task_runs WHERE task = ?1 AND n NOT IN (SELECT n FROM task_runs WHERE task = ?1 ORDER BY n DESC LIMIT ?2)", []any{task, runsKept}},
			{"DELETE FROM tasks WHERE next = 0 AND NOT EXISTS (SELECT 1 FROM task_runs WHERE task = tasks.n AND (ended = 0 OR ended > ?))", []any{now - onceKept.Microseconds()}},
			{deleteLease, []any{taskLease(task), holder}},
		} {
			if _, err := h.exec(change.query, change.args...); err != nil {
				return err
			}
		}
		return nil
	})
	return r, err
}

// Result is the end of a run, for the session that set the task.
type Result struct {
	Task string // its name
	Run
}

// Results returns the runs that ended after a position, of all tasks that a session has
// set, in the order of their ends. Runs of a task before its last change are left out.
// set reports whether the session has set any task that still exists.
func (db *DB) Results(ctx context.Context, session string, after int64) (all []Result, set bool, err error) {
	var r Result
	err = db.read(ctx, func(h *handle) error {
		if err := h.one([]any{&set}, "SELECT EXISTS (SELECT 1 FROM tasks WHERE session = ?)", session); err != nil || !set {
			return err
		}
		return h.each(ctx, func() error {
			all = append(all, r)
			return nil
		}, append([]any{&r.Task}, r.Run.dest()...), "SELECT t.name, "+runColumns+" FROM tasks t JOIN task_runs r ON r.task = t.n "+
			"WHERE t.session = ? AND r.position > ? AND r.ended >= t.updated ORDER BY r.position", session, after)
	})
	return all, set, err
}
