//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// inBackground starts a script that writes "ok" to its file 3. Gone waits until
// no process is left that has this file.
func inBackground(t *testing.T, e *Executor, script string) (gone func()) {
	t.Helper()
	path, open := fifo(t)
	opened := make(chan *os.File, 1)
	go func() { opened <- open() }()
	in, _ := json.Marshal(map[string]any{"command": "exec 3> " + path + "; " + script, "background": true})
	if got := run(t, e, call(Tool, string(in))); !strings.Contains(got.ForModel(), "runs in the background") {
		t.Fatalf("got %+v", got)
	}
	f := <-opened
	waitFor(t, f, "ok\n")
	return func() { waitEnd(t, f) }
}

func TestBackgroundProcessReads(t *testing.T) {
	next := filepath.Join(t.TempDir(), "next")
	syscall.Mkfifo(next, 0o600)
	j, err := Local{}.Background(t.Context(), Command{Line: "echo up; echo é >&2; read x < " + next + "; echo more; exit 5", Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	upTo := func(text string) func(string) bool {
		return func(more string) bool { all += more; return all == text }
	}
	if err := j.Await(t.Context(), upTo("up\né\n")); err != nil {
		t.Fatal(err)
	}
	if out, err := j.ReadOutput(t.Context()); err != nil || out.Ended || out.Text != "up\né\n" || out.Stdout != out.Text {
		t.Fatalf("got %+v, %v", out, err)
	}
	if out, err := j.ReadOutput(t.Context()); err != nil || out.Text != "" || out.Ended {
		t.Errorf("got %+v, %v", out, err)
	}
	w, err := os.OpenFile(next, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	all = ""
	if err := j.Await(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if exit := j.Exit(); *exit.ExitCode != 5 {
		t.Errorf("got the exit %+v, want code 5", exit)
	}
	if err := j.Await(t.Context(), upTo("more\n")); err != nil || all != "more\n" {
		t.Errorf("a wait after the end saw %q, %v", all, err)
	}
	if out, err := j.ReadOutput(t.Context()); err != nil || out.Text != "more\n" || !out.Ended || *out.ExitCode != 5 {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestBackgroundIsStopped(t *testing.T) {
	for name, script := range map[string]string{
		"tree": `(sleep 999 & sleep 998) & echo ok >&3; wait`,
		"deaf": `trap '' TERM INT HUP; (trap '' TERM; while :; do sleep 1; done) & echo ok >&3; while :; do sleep 1; done`,
	} {
		t.Run(name, func(t *testing.T) {
			e := New(Local{}, "/", setting.Default[Config]())
			gone := inBackground(t, e, script)
			got := run(t, e, call(toolStop, `{"id":"bg1"}`))
			if got.Failed || !strings.Contains(got.ForModel(), "[killed by SIG") {
				t.Errorf("got %+v", got)
			}
			gone()
		})
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	e := New(Local{}, "/", setting.Default[Config]())
	e.Timeout = time.Millisecond // is not for them
	var gone []func()
	for range 3 {
		gone = append(gone, inBackground(t, e, `trap '' TERM; (trap '' TERM; sleep 999) & echo ok >&3; while :; do sleep 1; done`))
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, f := range gone {
		f()
	}
}

// Unread output is bounded in memory, and the result reports the lost part.
func TestBackgroundOutputIsBounded(t *testing.T) {
	j, err := Local{}.Background(t.Context(), Command{Line: "echo first; head -c 33554432 /dev/zero | tr '\\0' x; echo; echo last", Dir: "/", Limit: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	<-j.Done()
	out, err := j.ReadOutput(t.Context())
	if err != nil || !out.Ended || out.Full == nil || !out.Truncated || out.Lost != 33554432+int64(len("first\n\nlast\n"))-4<<20 {
		t.Fatalf("got %+v, %v", out, err)
	}
	res := out.result(ending{note: "[exit 0]"}, 1000)
	res.Bound(1000)
	defer res.Full.Close()
	if !strings.HasPrefix(res.ForModel(), "first\nx") || !strings.HasSuffix(res.ForModel(), "x\nlast\n[exit 0]") || res.Full.Size() > 4<<20+100 {
		t.Errorf("text %q, full %d bytes", res.ForModel(), res.Full.Size())
	}
}

// Looks, output and stop at once.
func TestBackgroundRace(t *testing.T) {
	e := New(Local{}, "/", setting.Default[Config]())
	run(t, e, call(Tool, `{"command":"while :; do echo line; done","background":true}`))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				got, _ := e.Execute(context.Background(), call(toolOutput, `{"id":"bg1"}`))
				got.Long.Close()
				e.Background()
				e.Running()
			}
		})
	}
	all.Go(func() {
		got, _ := e.Execute(context.Background(), call(toolStop, `{"id":"bg1"}`))
		got.Long.Close()
	})
	all.Wait()
	if e.Close(); e.Running() != 0 {
		t.Error("it runs on")
	}
}

// A command of a call that goes on in the background is the same process, with all of its
// output. Nothing is notified after the call.
func TestProcessGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var returned atomic.Bool
	out, err := Local{}.Run(ctx, Command{
		Line: "echo a; read -r line < " + path + "; echo $line >&2; exit 3", Dir: "/",
		Notify: func(ev executors.Event) {
			if returned.Load() {
				t.Errorf("notified after the call: %+v", ev)
			}
			cancel(ErrGoOn)
		},
	})
	returned.Store(true)
	if err != nil || out.Job == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if err := os.WriteFile(path, []byte("b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-out.Job.Done()
	out, err = out.Job.ReadOutput(t.Context())
	if err != nil || out.Text != "a\nb\n" || !out.Ended || *out.ExitCode != 3 {
		t.Errorf("%+v, %v", out, err)
	}
}
