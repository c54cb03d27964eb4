//go:build unix

package shell

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// mover answers the calls that Hold passes on.
type mover struct{ at []time.Time }

func (m *mover) Tools() []executors.Tool { return nil }
func (m *mover) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}
func (m *mover) Execute(context.Context, *executors.Call) (executors.Result, error) {
	m.at = append(m.at, time.Now())
	return executors.Result{Text: "moved"}, nil
}

// unasked returns a call of a command in the background that nobody was asked about.
func unasked(command string) *executors.Call {
	c := call(Tool, `{"command":"`+command+`","background":true}`)
	c.Plain = &executors.Plain{Script: command, ReadOnly: true}
	return c
}

// fileCall returns a call of a file tool.
func fileCall(tool string) *executors.Call {
	c := call(tool, `{}`)
	if tool != "read" {
		c.Spec.Traits = executors.RenamesFiles
	}
	return c
}

// While "sleep 4; cat d/f" runs unasked, a move of d or f would make it read another file.
func TestHold(t *testing.T) {
	for name, tt := range map[string]struct {
		background *executors.Call
		tool       string
		paths      []string
		waits      bool
	}{
		"move":                 {unasked("sleep 4; cat d/f"), "move_path", []string{"/usr/a", "/usr/d"}, true},
		"copy":                 {unasked("sleep 4; cat d/f"), "copy_path", []string{"/usr/a", "/usr/d"}, true},
		"delete":               {unasked("sleep 4; cat d/f"), "delete_path", []string{"/usr/d"}, true},
		"a parent":             {unasked("sleep 4; cat d/f"), "move_path", []string{"/"}, true},
		"into the directories": {unasked("sleep 4; cat d/f"), "move_path", []string{"/x/a", "/usr/d"}, true},
		"no card":              {unasked("sleep 4; cat d/f"), "delete_path", nil, true},
		"elsewhere":            {unasked("sleep 4; cat d/f"), "move_path", []string{"/x/a", "/y"}, false},
		"another tool":         {unasked("sleep 4; cat d/f"), "read", []string{"/usr/d"}, false},
		"an allowed command":   {call(Tool, npm), "move_path", []string{"/usr/d"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, next := &fake{}, &mover{}
				e := New(f, "/usr", setting.Default[Config]())
				run(t, e, tt.background)
				c := fileCall(tt.tool)
				c.Card.Paths = tt.paths
				var progress []string
				c.Notify = func(ev executors.Event) { progress = append(progress, ev.Progress) }
				began := time.Now()
				time.AfterFunc(3*time.Second, func() { f.jobs[0].end(0) })
				res, err := e.Hold(next).Execute(t.Context(), c)
				if err != nil || res.Text != "moved" || len(next.at) != 1 {
					t.Fatalf("got %+v, %v", res, err)
				}
				if waited := next.at[0].Sub(began); tt.waits != (waited == 3*time.Second) || tt.waits != (waited > 0) {
					t.Errorf("it waited %s", waited)
				}
				if tt.waits && (len(progress) != 1 || progress[0] != "waiting for the end of bg1 (sleep 4; cat d/f), which could read these files") {
					t.Errorf("progress %q", progress)
				}
				if note := "[waited 3 s for the end of bg1 (sleep 4; cat d/f), which could read these files]"; tt.waits != strings.Contains(res.ForModel(), note) {
					t.Errorf("the model reads %q", res.ForModel())
				}
				time.Sleep(time.Hour) // let the command end
			})
		})
	}
}

// The wait ends with the turn, and with its limit.
func TestHoldEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, next := &fake{}, &mover{}
		e := New(f, "/usr", setting.Default[Config]())
		run(t, e, unasked("tail -f log"))
		why := errors.New("cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := e.Hold(next).Execute(ctx, fileCall("move_path")); err != why {
			t.Errorf("cancelled: %v", err)
		}
		began := time.Now()
		res, err := e.Hold(next).Execute(t.Context(), fileCall("move_path"))
		if err != nil || res.Failure == nil || res.Failure.Category != executors.Timeout || time.Since(began) != maxHold {
			t.Errorf("after %s: %+v, %v", time.Since(began), res, err)
		}
		if len(next.at) > 0 {
			t.Error("it moved the files")
		}
		_ = e.Close()
	})
}

// A command that is only being started counts, and one that does not start does not.
func TestHoldStart(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			f, next := &fake{}, &mover{}
			f.begin = func(j *fakeJob) { <-release }
			e := New(&slowStart{f, release, fails}, "/usr", setting.Default[Config]())
			go func() { _, _ = e.Execute(t.Context(), unasked("ls")) }()
			synctest.Wait()
			moved := make(chan error)
			go func() {
				_, err := e.Hold(next).Execute(t.Context(), fileCall("move_path"))
				moved <- err
			}()
			synctest.Wait()
			if len(next.at) > 0 {
				t.Fatal("it did not wait for the start")
			}
			close(release)
			synctest.Wait()
			if !fails {
				if len(next.at) > 0 {
					t.Fatal("it did not wait for the end")
				}
				f.jobs[0].end(0)
			}
			if err := <-moved; err != nil || len(next.at) != 1 {
				t.Errorf("fails %t: %v, %d moves", fails, err, len(next.at))
			}
			_ = e.Close()
		})
	}
}

// slowStart is a fake whose commands start when the test releases them, or fail.
type slowStart struct {
	*fake
	release chan struct{}
	fails   bool
}

func (s *slowStart) Background(ctx context.Context, c Command) (Job, error) {
	<-s.release
	if s.fails {
		return nil, errors.New("no")
	}
	return s.fake.Background(ctx, c)
}
