package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// fake is a Runner whose background commands follow the test.
type fake struct {
	answer
	mu    sync.Mutex
	jobs  []*fakeJob
	begin func(*fakeJob) // runs before Background returns
	err   error
}

func (f *fake) Background(_ context.Context, c Command) (Job, error) {
	if f.err != nil {
		return nil, f.err
	}
	j := &fakeJob{done: make(chan struct{}), kept: newCapture(c.Limit)}
	f.mu.Lock()
	f.jobs = append(f.jobs, j)
	f.mu.Unlock()
	if f.begin != nil {
		f.begin(j)
	}
	return j, nil
}

type fakeJob struct {
	mu       sync.Mutex
	kept     *process.Capture
	waits    []*awaiter
	done     chan struct{}
	exit     Output
	stopped  int
	released int
	lookErr  error
}

func (j *fakeJob) write(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept.Add([]byte(s))
	for _, w := range j.waits {
		w.offer(s)
	}
}

func (j *fakeJob) end(code int) { j.exit.ExitCode = &code; close(j.done) }

func (j *fakeJob) Done() <-chan struct{} { return j.done }

func (j *fakeJob) Await(ctx context.Context, enough func(string) bool) error {
	w := &awaiter{enough: enough, found: make(chan struct{})}
	j.mu.Lock()
	if enough != nil {
		w.offer(j.kept.Text())
		j.waits = append(j.waits, w)
	}
	j.mu.Unlock()
	select {
	case <-w.found:
	case <-j.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func (j *fakeJob) Exit() Output { return j.exit }

func (j *fakeJob) ReadOutput(ctx context.Context) (Output, error) {
	if j.lookErr != nil {
		return Output{}, j.lookErr
	}
	if ctx.Err() != nil {
		return Output{}, context.Cause(ctx)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	out := outputOf(j.kept)
	j.kept = newCapture(0)
	select {
	case <-j.done:
		out.Ended, out.ExitCode, out.Signal = true, j.exit.ExitCode, j.exit.Signal
		out.Release = func() { j.released++ }
	default:
	}
	return out, nil
}

func (j *fakeJob) Stop(context.Context) {
	j.stopped++
	select {
	case <-j.done:
	default:
		j.exit.Signal = "SIGTERM"
		close(j.done)
	}
}

func call(tool, input string) *executors.Call {
	return &executors.Call{Tool: tool, Input: json.RawMessage(input), Session: "s1", Record: &executors.Record{}, Notify: func(executors.Event) {}}
}

func run(t *testing.T, e *Executor, c *executors.Call) executors.Result {
	t.Helper()
	got, err := e.Execute(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", c.Input, err)
	}
	return got
}

const npm = `{"command":"npm run dev","background":true}`

func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{begin: func(j *fakeJob) { j.write("starting\n") }}
		e := New(f, "/", setting.Default[Config]())
		begin := time.Now()
		got := run(t, e, call(Tool, npm))
		if want := "starting\n[bg1 runs in the background: bash_output bg1 shows more, bash_stop bg1 ends it]"; got.ForModel() != want || got.Failed ||
			time.Since(begin) != earlyEndWait {
			t.Errorf("got %+v after %s", got, time.Since(begin))
		}
		if n := e.Running(); n != 1 {
			t.Errorf("%d jobs are running, want 1", n)
		}
		time.Sleep(11500 * time.Millisecond)
		if got := e.Background(); len(got) != 1 || got[0] != "bg1: npm run dev (running for 12 s)" {
			t.Errorf("list %q", got)
		}
		j := f.jobs[0]
		j.write("one\n")
		j.write("two\n")
		look := call(toolOutput, `{"id":"bg1"}`)
		if got := run(t, e, look); got.ForModel() != "one\ntwo\n[running for 12 s]" || got.Failed || look.Record.ExitCode != nil {
			t.Errorf("got %+v", got)
		}
		if got := run(t, e, look); got.ForModel() != "(no new output)\n[running for 12 s]" {
			t.Errorf("got %+v", got)
		}
		time.AfterFunc(3*time.Second, func() { j.write("three\n") })
		wait := call(toolOutput, `{"id":"bg1","wait":30}`)
		if got := run(t, e, wait); got.ForModel() != "three\n[running for 42 s]" {
			t.Errorf("got %+v", got)
		}
		if got := run(t, e, wait); got.ForModel() != "(no new output in 30 s)\n[running for 72 s]" {
			t.Errorf("got %+v", got)
		}
		time.AfterFunc(time.Second, func() { j.write("bye"); j.end(3) })
		got = run(t, e, call(toolOutput, `{"id":"bg1","wait":600}`))
		if !strings.HasPrefix(got.ForModel(), "bye\n[") || time.Since(begin) > 80*time.Second {
			t.Errorf("got %+v", got)
		}
		if !strings.HasSuffix(got.ForModel(), "[exit 3]") || !got.Failed || got.Category() != "" {
			t.Errorf("got %+v", got)
		}
		if got.Done(); j.released != 1 || e.Running() != 0 || len(e.Background()) != 0 {
			t.Errorf("released %d times, list %q", j.released, e.Background())
		}
		got = run(t, e, look)
		if got.Category() != executors.InvalidParameters || !strings.Contains(got.ForModel(), "bg1 has ended [exit 3]") {
			t.Errorf("got %+v", got)
		}
	})
}

// A command that ends at once is reported like a foreground one, with its exit
// code.
func TestBackgroundThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for code, want := range map[int]string{0: "done\n[exit 0]", 2: "done\n[exit 2]"} {
			f := &fake{begin: func(j *fakeJob) { j.write("done\n"); j.end(code) }}
			e := New(f, "/", setting.Default[Config]())
			c := call(Tool, npm)
			if got := run(t, e, c); got.ForModel() != want || got.Failed != (code != 0) || *c.Record.ExitCode != code || e.Running() != 0 {
				t.Errorf("%d: got %+v", code, got)
			}
		}
		f := &fake{begin: func(j *fakeJob) { j.end(127) }}
		if got := run(t, New(f, "/", setting.Default[Config]()), call(Tool, npm)); got.Category() != executors.PermanentFailure {
			t.Errorf("got %+v", got)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		run(t, e, call(Tool, npm))
		f.jobs[0].write("last words\n")
		got := run(t, e, call(toolStop, `{"id":"bg1"}`))
		if got.ForModel() != "last words\n[killed by SIGTERM]" || got.Failed || f.jobs[0].stopped != 1 || e.Running() != 0 {
			t.Errorf("got %+v", got)
		}
		// The turn may end meanwhile: the command is stopped anyway.
		run(t, e, call(Tool, npm))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Execute(ctx, call(toolStop, `{"id":"bg2"}`)); err != nil || e.Running() != 0 {
			t.Errorf("%v, %d running", err, e.Running())
		}
	})
}

func TestUnknownJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(&fake{}, "/", setting.Default[Config]())
		for id, want := range map[string]string{"bg1": "no command is running", "": "no command is running"} {
			got := run(t, e, call(toolOutput, fmt.Sprintf(`{"id":%q}`, id)))
			if got.Category() != executors.InvalidParameters || !strings.Contains(got.ForModel(), want) {
				t.Errorf("got %+v", got)
			}
		}
		run(t, e, call(Tool, npm))
		for _, tool := range []string{toolOutput, toolStop} {
			got := run(t, e, call(tool, `{"id":"bg7"}`))
			if !strings.Contains(got.ForModel(), `no command "bg7"`) || !strings.Contains(got.ForModel(), "bg1: npm run dev (running for 0 s)") {
				t.Errorf("got %+v", got)
			}
			if _, err := e.Prepare(t.Context(), call(tool, `{"id":"bg7"}`)); err == nil {
				t.Error("the card does not tell")
			}
			card, err := e.Prepare(t.Context(), call(tool, `{"id":"bg1"}`))
			if err != nil || !strings.HasSuffix(card.Title, " bg1 `npm run dev`") || card.Command() != "" {
				t.Errorf("card %+v, %v", card, err)
			}
		}
		card, err := e.Prepare(t.Context(), call(Tool, npm))
		if err != nil || card.Title != "`npm run dev` in the background" || card.Command() != "npm run dev" {
			t.Errorf("card %+v, %v", card, err)
		}
	})
}

func TestMaxBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", Config{MaxBackground: 2, OutputLimit: executors.OutputLimit{MaxOutputChars: 1000}})
		run(t, e, call(Tool, npm))
		run(t, e, call(Tool, npm))
		got := run(t, e, call(Tool, npm))
		for _, want := range []string{"the limit of 2 commands in the background", "bg1: npm run dev", "bg2:", "bash_stop"} {
			if !got.Failed || !strings.Contains(got.ForModel(), want) {
				t.Errorf("got %q, want %q", got.ForModel(), want)
			}
		}
		f.jobs[0].end(0) // its end is not seen yet
		if got := run(t, e, call(Tool, npm)); !strings.Contains(got.ForModel(), "bg1: npm run dev (exit 0; bash_output shows its output)") || e.Running() != 1 {
			t.Errorf("got %q", got.ForModel())
		}
		run(t, e, call(toolOutput, `{"id":"bg1"}`))
		if got := run(t, e, call(Tool, npm)); !strings.Contains(got.ForModel(), "[bg3 runs") {
			t.Errorf("got %q", got.ForModel())
		}
		none := New(f, "/", Config{OutputLimit: executors.OutputLimit{MaxOutputChars: 1000}})
		if got := run(t, none, call(Tool, npm)); got.Category() != executors.PolicyBlocked {
			t.Errorf("got %+v", got)
		}
	})
}

func TestBackgroundDoesNotStart(t *testing.T) {
	e := New(&fake{err: executors.Failuref(executors.PermanentFailure, "no shell")}, "/", setting.Default[Config]())
	if got := run(t, e, call(Tool, npm)); !strings.Contains(got.ForModel(), "no shell") || len(e.Background()) > 0 {
		t.Errorf("got %+v", got)
	}
}

// A command whose id never reached the model must not run on.
func TestCancelBeforeTheIDIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		stop := errors.New("the user stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(earlyEndWait/2, func() { cancel(stop) })
		if _, err := e.Execute(ctx, call(Tool, npm)); err != stop || f.jobs[0].stopped != 1 || f.jobs[0].released != 1 || e.Running() != 0 {
			t.Errorf("%v, %+v", err, f.jobs[0])
		}
	})
}

// A cancelled look does not consume output, and the command runs on.
func TestCancelledLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		run(t, e, call(Tool, npm))
		stop := errors.New("the user stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		if _, err := e.Execute(ctx, call(toolOutput, `{"id":"bg1","wait":9}`)); err != stop || e.Running() != 1 {
			t.Errorf("%v, %d running", err, e.Running())
		}
		f.jobs[0].write("x")
		if got := run(t, e, call(toolOutput, `{"id":"bg1"}`)); !strings.HasPrefix(got.ForModel(), "x\n") {
			t.Errorf("got %q", got.ForModel())
		}
		f.jobs[0].lookErr = errors.New("gone")
		if got := run(t, e, call(toolOutput, `{"id":"bg1"}`)); !strings.Contains(got.ForModel(), "look at bg1: gone") {
			t.Errorf("got %q", got.ForModel())
		}
	})
}

func TestTwoLooksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		run(t, e, call(Tool, npm))
		texts := make(chan string, 2)
		for range 2 {
			go func() {
				got, _ := e.Execute(t.Context(), call(toolOutput, `{"id":"bg1","wait":30}`))
				texts <- got.ForModel()
			}()
		}
		time.Sleep(time.Second)
		f.jobs[0].end(0)
		all := <-texts + <-texts
		if strings.Count(all, "\n[exit 0]") != 1 || strings.Count(all, "bg1 has ended [exit 0]") != 1 {
			t.Errorf("got %q", all)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		run(t, e, call(Tool, npm))
		run(t, e, call(Tool, npm))
		f.begin = func(*fakeJob) { // while the third is being started
			go e.Close()
			time.Sleep(time.Second)
		}
		got := run(t, e, call(Tool, npm))
		if !strings.Contains(got.ForModel(), "closed") {
			t.Errorf("got %q", got.ForModel())
		}
		synctest.Wait()
		for i, j := range f.jobs {
			if j.stopped != 1 || j.released != 1 {
				t.Errorf("job %d: stopped %d, released %d times", i, j.stopped, j.released)
			}
		}
		if got := run(t, e, call(Tool, npm)); !strings.Contains(got.ForModel(), "being closed") {
			t.Errorf("got %q", got.ForModel())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
