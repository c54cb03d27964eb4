package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// machine is a machine whose processes share a database. It uses the clock of synctest,
// which begins at midnight, 2000-01-01 UTC.
type machine struct {
	t    *testing.T
	path string

	mu   sync.Mutex
	runs []string // as begun: process, name, time and attempt
	hang bool     // runs do not end by themselves
}

func (m *machine) ran() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs)
}

// want compares the runs so far.
func (m *machine) want(runs ...string) {
	m.t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(runs, m.ran()); diff != "" {
		m.t.Errorf("runs (-want +got)\n%s", diff)
	}
}

// process is one process with its own handle of the database.
type process struct {
	*Runner
	ended []string
}

// start starts a process, which the test must end.
func (m *machine) start(name string) *process {
	p := &process{Runner: &Runner{
		Store: store.New(m.path, store.Options{}), Config: setting.Default[schedule.Config](), Holder: name, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}}
	p.Config.Timezone = "UTC"
	p.Ended = func(t store.Task, r store.Run) { p.ended = append(p.ended, t.Name+" "+r.Outcome) }
	p.Run = func(ctx context.Context, j Job) Report {
		m.mu.Lock()
		m.runs = append(m.runs, fmt.Sprintf("%s %s %s %d", name, j.Task.Name, time.Now().UTC().Format("02 15:04:05"), j.Run.Attempts))
		hang := m.hang
		m.mu.Unlock()
		if err := j.Started("session of " + j.Task.Name); err != nil {
			return Report{Failed, err.Error()}
		}
		if hang {
			<-ctx.Done()
			return Report{Failed, "cancelled"}
		}
		return Report{Done, "ok"}
	}
	return p
}

func (p *process) end() {
	p.Close(time.Second)
	p.Store.Close()
}

// die ends a process without a trace: its lease and its runs stay as they are.
func (p *process) die() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	stop := p.stop
	p.mu.Unlock()
	p.Store.Close() // it cannot write any more
	stop(errors.New("killed"))
	p.passes.Wait()
}

func (m *machine) put(p *process, t store.Task) {
	m.t.Helper()
	t.CWD, t.Session, t.Mode = "/w", "s", "code"
	if _, err := p.Store.PutTask(m.t.Context(), t, 100); err != nil {
		m.t.Fatal(err)
	}
	p.Changed()
	synctest.Wait()
}

func inMachine(t *testing.T, test func(t *testing.T, m *machine)) {
	path := filepath.Join(t.TempDir(), "zeph.db")
	synctest.Test(t, func(t *testing.T) { test(t, &machine{t: t, path: path}) })
}

func in(d time.Duration) time.Time { return time.Now().Add(d) }

func TestTaskRunsOnce(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		defer p.end()
		m.put(p, store.Task{Name: "once", Next: in(90 * time.Minute)})
		time.Sleep(90*time.Minute - time.Second)
		m.want()
		time.Sleep(2 * time.Second)
		m.want("a once 01 01:30:00 1")
		time.Sleep(48 * time.Hour)
		m.want("a once 01 01:30:00 1")
		if p.timer != nil {
			t.Error("a timer is set although no task is left")
		}
		if diff := cmp.Diff([]string{"once done"}, p.ended); diff != "" {
			t.Error(diff)
		}
		runs, err := p.Store.Runs(t.Context(), 1)
		if err != nil || len(runs) != 1 || runs[0].Session != "session of once" || runs[0].Result != "ok" {
			t.Errorf("%+v, %v", runs, err)
		}
	})
}

func TestPeriodic(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		defer p.end()
		m.put(p, store.Task{Name: "sixth", Cron: "0 */6 * * *", Next: in(6 * time.Hour)})
		m.put(p, store.Task{Name: "noon", Cron: "0 12 * * *", Next: in(12 * time.Hour)})
		time.Sleep(19 * time.Hour)
		m.want("a sixth 01 06:00:00 1", "a sixth 01 12:00:00 1", "a noon 01 12:00:00 1", "a sixth 01 18:00:00 1")
	})
}

// Times that passed while no process lived are made up for once.
func TestMissedTimes(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		m.put(p, store.Task{Name: "hourly", Cron: "0 * * * *", Next: in(time.Hour)})
		m.put(p, store.Task{Name: "once", Next: in(30 * time.Minute)})
		p.end()
		time.Sleep(50*time.Hour + time.Minute)
		p = m.start("b")
		defer p.end()
		p.Poll()
		time.Sleep(startDelay)
		m.want("b once 03 02:01:01 1", "b hourly 03 02:01:01 1")
		time.Sleep(time.Hour)
		m.want("b once 03 02:01:01 1", "b hourly 03 02:01:01 1", "b hourly 03 03:00:00 1")
	})
}

// A database that cannot be read for a moment delays a task, although no turn begins.
func TestUnreadableDatabase(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		m.put(p, store.Task{Name: "once", Next: in(time.Hour)})
		p.end()
		aside := m.path + ".aside"
		if err := errors.Join(os.Rename(m.path, aside), os.Mkdir(m.path, 0o700)); err != nil {
			t.Fatal(err)
		}
		p = m.start("b")
		defer p.end()
		p.Poll()
		time.Sleep(2 * time.Hour)
		m.want()
		if err := errors.Join(os.Remove(m.path), os.Rename(aside, m.path)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(tick)
		synctest.Wait()
		if got := p.ended; !slices.Equal(got, []string{"once done"}) {
			t.Errorf("ended: %q", got)
		}
	})
}

func TestNoTasks(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		defer p.end()
		p.Poll()
		time.Sleep(startDelay)
		synctest.Wait()
		if p.timer != nil || !p.lastPass.Equal(time.Now()) {
			t.Errorf("looked at %s, timer %v", p.lastPass, p.timer)
		}
		// Another process sets a task and ends. This one finds it at its next turn.
		other := m.start("b")
		m.put(other, store.Task{Name: "once", Next: in(time.Hour)})
		other.end()
		time.Sleep(tick)
		p.Poll()
		time.Sleep(time.Hour)
		m.want("a once 01 01:00:01 1")
	})
}

// Of several processes one runs a task, and each time once.
func TestOneProcessRunsATask(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		var all []*process
		for n := range 4 {
			p := m.start(fmt.Sprint(n))
			defer p.end()
			all = append(all, p)
		}
		m.put(all[0], store.Task{Name: "hourly", Cron: "0 * * * *", Next: in(time.Hour)})
		for _, p := range all {
			p.Poll()
		}
		time.Sleep(100*time.Hour + time.Minute)
		synctest.Wait()
		seen := map[string]bool{}
		for _, run := range m.ran() {
			if key := run[2:]; seen[key] {
				t.Errorf("twice: %s", run)
			} else {
				seen[key] = true
			}
		}
		if len(seen) != 100 {
			t.Errorf("%d runs in 100 hours", len(seen))
		}
	})
}

// Another process goes on with the run of a process that died.
func TestRunOfDeadProcess(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		m.hang = true
		p := m.start("a")
		m.put(p, store.Task{Name: "once", Next: in(time.Minute)})
		time.Sleep(time.Minute)
		m.want("a once 01 00:01:00 1")
		p.die()

		p = m.start("b")
		p.Poll()
		time.Sleep(startDelay)
		m.want("a once 01 00:01:00 1") // the lease holds until it is stale, since this pid lives
		time.Sleep(2 * tick)
		m.want("a once 01 00:01:00 1", "b once 01 00:02:01 2")
		p.die()

		p = m.start("c")
		p.Poll()
		time.Sleep(2 * tick)
		m.want("a once 01 00:01:00 1", "b once 01 00:02:01 2", "c once 01 00:04:02 3")
		p.end()

		p = m.start("d") // the third process has given up its lease
		defer p.end()
		p.Poll()
		time.Sleep(2 * tick)
		m.want("a once 01 00:01:00 1", "b once 01 00:02:01 2", "c once 01 00:04:02 3")
		if diff := cmp.Diff([]string{"once interrupted"}, p.ended); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTooLong(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		m.hang = true
		p := m.start("a")
		defer p.end()
		m.put(p, store.Task{Name: "daily", Cron: "0 1 * * *", Next: in(time.Hour)})
		time.Sleep(time.Hour + 30*time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]string{"daily timed out"}, p.ended); diff != "" {
			t.Error(diff)
		}
		time.Sleep(24 * time.Hour)
		m.want("a daily 01 01:00:00 1", "a daily 02 01:00:00 1")
	})
}

// A run ends if its task is removed meanwhile, and nothing is left of it.
func TestRemovedDuringRun(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		m.hang = true
		p := m.start("a")
		defer p.end()
		m.put(p, store.Task{Name: "once", Next: in(time.Minute)})
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := p.Store.DeleteTask(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(heartbeat)
		synctest.Wait()
		p.mu.Lock()
		busy := p.busy
		p.mu.Unlock()
		if busy || p.ended != nil {
			t.Errorf("runs: %v, ended: %v", busy, p.ended)
		}
	})
}

func TestRunNow(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		defer p.end()
		m.put(p, store.Task{Name: "daily", Cron: "0 1 * * *", Next: in(time.Hour)})
		if run, err := p.RunNow(t.Context(), 1); err != nil || run.Outcome != Done {
			t.Errorf("%+v, %v", run, err)
		}
		time.Sleep(61 * time.Minute)
		m.want("a daily 01 00:00:00 1", "a daily 01 01:00:00 1")
		if _, err := p.RunNow(t.Context(), 2); !errors.Is(err, store.ErrNoTask) {
			t.Error(err)
		}
	})
}

// A task that panics ends neither the process nor the other tasks.
func TestPanic(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine) {
		p := m.start("a")
		defer p.end()
		run := p.Run
		p.Run = func(ctx context.Context, j Job) Report {
			if j.Task.Name == "bad" {
				panic("bad task")
			}
			return run(ctx, j)
		}
		m.put(p, store.Task{Name: "bad", Next: in(time.Minute)})
		m.put(p, store.Task{Name: "good", Next: in(2 * time.Minute)})
		time.Sleep(3 * time.Minute)
		m.want("a good 01 00:02:00 1")
	})
}
