package shell

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// A client that follows background commands hears once that a command goes on, and once that it has ended, before the
// result that shows the end. It hears nothing about a command that ends with its call.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(endless{f}, "/", setting.Default[Config]())
		e.Follow = true
		var events []string
		var stop func()
		do := func(tool, input string) {
			t.Helper()
			c := call(tool, input)
			c.Notify = func(ev executors.Event) {
				switch {
				case ev.Background != nil:
					stop = ev.Background
					events = append(events, "goes on")
				case ev.Exit != nil:
					events = append(events, "ends")
				}
			}
			run(t, e, c)
			events = append(events, tool)
		}
		check := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(events, want) {
				t.Errorf("%s: %q, want %q", what, events, want)
			}
			events = nil
		}
		do(Tool, npm)
		check("start", "goes on", Tool)
		stop()
		check("stop by the client", "ends")
		do(toolOutput, `{"id":"bg1"}`)
		check("its output", toolOutput)

		do(Tool, npm)
		do(toolStop, `{"id":"bg2"}`)
		check("stop by the model", "goes on", Tool, "ends", toolStop)

		do(Tool, `{"command":"make"}`)
		check("late", "goes on", Tool)
		if err := e.StopJob(t.Context(), "bg3"); err != nil {
			t.Error(err)
		}
		check("stop by the user", "ends")

		f.begin = func(j *fakeJob) { j.end(1) }
		do(Tool, npm)
		check("early end", "ends", Tool)

		f.begin = nil
		do(Tool, npm)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		check("close", "goes on", Tool, "ends")
	})
}
