package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// putTask stores a task and returns it as stored.
func putTask(t *testing.T, db *DB, task Task) Task {
	t.Helper()
	if _, err := db.PutTask(t.Context(), task, 100); err != nil {
		t.Fatal(err)
	}
	all, err := db.Tasks(t.Context(), task.CWD)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range all {
		if got.Name == task.Name {
			return got
		}
	}
	t.Fatalf("%s is not stored", task.Name)
	return Task{}
}

func nightly(next time.Time) Task {
	return Task{CWD: "/w", Name: "nightly", Session: "s1", Cron: "0 3 * * *", Prompt: "run the tests", Mode: "code", Next: next}
}

func TestTasks(t *testing.T) {
	db, c := openAt(t, newPath(t))
	want := nightly(start.Add(time.Hour))
	got := putTask(t, db, want)
	want.ID, want.Created, want.Updated = 1, start, start
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got)\n%s", diff)
	}

	c.pass(time.Minute)
	want.Prompt, want.Typed, want.Session = "run all tests", true, "s2"
	if replaced, err := db.PutTask(t.Context(), want, 1); err != nil || !replaced {
		t.Errorf("replace: %v, %v", replaced, err)
	}
	want.Updated = start.Add(time.Minute)
	if got, err := db.Task(t.Context(), 1); err != nil || got != want {
		t.Errorf("replaced: %v (-want +got)\n%s", err, cmp.Diff(want, got))
	}
	other := nightly(start)
	other.CWD = "/other"
	if _, err := db.PutTask(t.Context(), other, 1); !errors.Is(err, ErrManyTasks) {
		t.Errorf("one task too many: %v", err)
	}
	putTask(t, db, other)
	if all, err := db.Tasks(t.Context(), ""); err != nil || len(all) != 2 || all[0].CWD != "/other" {
		t.Errorf("all tasks: %v, %v", all, err)
	}
	if err := db.DeleteTask(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if err := db.DeleteTask(t.Context(), 1); !errors.Is(err, ErrNoTask) {
		t.Errorf("deleted again: %v", err)
	}
	if _, err := db.Task(t.Context(), 1); !errors.Is(err, ErrNoTask) {
		t.Errorf("deleted: %v", err)
	}
}

func TestRuns(t *testing.T) {
	db, c := openAt(t, newPath(t))
	task := putTask(t, db, nightly(start.Add(time.Hour)))
	due := func(want ...int64) {
		t.Helper()
		got, _, err := db.Due(t.Context(), c.Now())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("due: %v (-want +got)\n%s", err, diff)
		}
	}
	due()
	c.pass(2 * time.Hour)
	due(1)
	next := start.Add(24 * time.Hour)
	run, err := db.BeginRun(t.Context(), task, next)
	if err != nil {
		t.Fatal(err)
	}
	due(1) // it has not ended
	if _, err := db.BeginRun(t.Context(), task, next); !errors.Is(err, ErrNoTask) {
		t.Errorf("the same time again: %v", err)
	}
	if err := errors.Join(db.SetRunSession(t.Context(), run.ID, "r1"), db.ContinueRun(t.Context(), run.ID)); err != nil {
		t.Error(err)
	}
	c.pass(time.Minute)
	ended, err := db.EndRun(t.Context(), task.ID, run.ID, "me", "done", "all pass")
	want := Run{
		ID: 1, Due: start.Add(time.Hour), Started: start.Add(2 * time.Hour), Ended: start.Add(121 * time.Minute),
		Session: "r1", Attempts: 2, Outcome: "done", Result: "all pass", Position: 1,
	}
	if err != nil || ended != want {
		t.Errorf("ended: %v (-want +got)\n%s", err, cmp.Diff(want, ended))
	}
	if _, err := db.EndRun(t.Context(), task.ID, run.ID, "me", "failed", ""); !errors.Is(err, ErrNoTask) {
		t.Errorf("ended again: %v", err)
	}
	due()
	if _, when, err := db.Due(t.Context(), c.Now()); err != nil || !when.Equal(next) {
		t.Errorf("due at %v, %v", when, err)
	}
	if got, err := db.Task(t.Context(), task.ID); err != nil || got.Last != want || !got.Next.Equal(next) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A session gets each result once, and none of a task before it set that task.
func TestResults(t *testing.T) {
	db, c := openAt(t, newPath(t))
	do := func(session string) int64 {
		t.Helper()
		task := nightly(c.Now())
		task.Session = session
		task = putTask(t, db, task)
		run, err := db.BeginRun(t.Context(), task, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
		if run, err = db.EndRun(t.Context(), task.ID, run.ID, "me", "done", session); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
		return run.Position
	}
	results := func(session string, after int64) (texts []string, set bool) {
		t.Helper()
		all, set, err := db.Results(t.Context(), session, after)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			texts = append(texts, r.Task+" "+r.Result)
		}
		return texts, set
	}
	if got, set := results("s1", 0); got != nil || set {
		t.Errorf("without a task: %v, %v", got, set)
	}
	first := do("s1")
	if got, set := results("s1", 0); len(got) != 1 || got[0] != "nightly s1" || !set {
		t.Errorf("a result: %v, %v", got, set)
	}
	if got, set := results("s1", first); got != nil || !set {
		t.Errorf("after the result: %v, %v", got, set)
	}
	if second := do("s2"); second != first+1 {
		t.Errorf("positions %d and %d", first, second)
	}
	if got, _ := results("s2", 0); len(got) != 1 || got[0] != "nightly s2" {
		t.Errorf("after another session replaced the task: %v", got)
	}
	if got, set := results("s1", 0); got != nil || set {
		t.Errorf("of the session whose task was replaced: %v, %v", got, set)
	}
}

func TestOldRuns(t *testing.T) {
	db, c := openAt(t, newPath(t))
	once := nightly(c.Now())
	once.Name, once.Cron = "once", ""
	once = putTask(t, db, once)
	run, err := db.BeginRun(t.Context(), once, time.Time{})
	if err == nil {
		_, err = db.EndRun(t.Context(), once.ID, run.ID, "me", "done", "")
	}
	if err != nil {
		t.Fatal(err)
	}
	task := putTask(t, db, nightly(c.Now()))
	for n := range runsKept + 2 {
		c.pass(24 * time.Hour)
		run, err := db.BeginRun(t.Context(), task, c.Now().Add(time.Hour))
		if err == nil {
			_, err = db.EndRun(t.Context(), task.ID, run.ID, "me", "done", fmt.Sprint(n))
		}
		if err != nil {
			t.Fatal(err)
		}
		if task, err = db.Task(t.Context(), task.ID); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := db.Runs(t.Context(), task.ID)
	if err != nil || len(runs) != runsKept || runs[0].Result != fmt.Sprint(runsKept+1) {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if _, err := db.Task(t.Context(), once.ID); err != nil {
		t.Errorf("%d days after its run: %v", runsKept+2, err)
	}
	c.pass(onceKept)
	run, err = db.BeginRun(t.Context(), task, c.Now())
	if err == nil {
		_, err = db.EndRun(t.Context(), task.ID, run.ID, "me", "done", "")
	}
	if _, gone := db.Task(t.Context(), once.ID); err != nil || !errors.Is(gone, ErrNoTask) {
		t.Errorf("long after its run: %v, %v", gone, err)
	}
}

func TestTaskLease(t *testing.T) {
	path := newPath(t)
	db, c := openAt(t, path)
	other, _ := openAt(t, path)
	if err := db.AcquireTask(t.Context(), 1, "a"); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*LeasedError](other.AcquireTask(t.Context(), 1, "b")); !ok {
		t.Error("two processes have one lease")
	}
	if err := db.HeartbeatTask(t.Context(), 1, "b"); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("heartbeat of another: %v", err)
	}
	c.pass(time.Second)
	if err := errors.Join(db.HeartbeatTask(t.Context(), 1, "a"), db.ReleaseTask(t.Context(), 1, "a"), other.AcquireTask(t.Context(), 1, "b")); err != nil {
		t.Error(err)
	}
}
