package shell

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// A wait ends with a line that matches, with the command, with a text of the user, or
// when its time is over. It never ends with other output.
func TestAwait(t *testing.T) {
	for name, tt := range map[string]struct {
		input string
		after func(*fakeJob, chan struct{}) // one second later
		want  string
		took  time.Duration
	}{
		"match": {`{"id":"bg1","until":"^listening on \\d+","wait":600}`, func(j *fakeJob, _ chan struct{}) {
			j.write("compiling\nlisten")
			j.write("ing on 80\n")
		}, "compiling\nlistening on 80\n[running for 1 s; matched]", time.Second},
		"unfinished line": {`{"id":"bg1","until":"password:"}`, func(j *fakeJob, _ chan struct{}) { j.write("password: ") },
			"password: \n[running for 1 s; matched]", time.Second},
		"colours": {`{"id":"bg1","until":"Local: http"}`, func(j *fakeJob, _ chan struct{}) { j.write("\x1b[32mLocal:\x1b[0m http://x\n") },
			"\x1b[32mLocal:\x1b[0m http://x\n[running for 1 s; matched]", time.Second},
		"no match": {`{"id":"bg1","until":"ready"}`, func(j *fakeJob, _ chan struct{}) { j.write("rea\ndy\n") },
			"rea\ndy\n[running for 60 s; no match in 60 s]", time.Minute},
		"end":     {`{"id":"bg1","until":"ready","wait":600}`, func(j *fakeJob, _ chan struct{}) { j.end(1) }, "(no new output)\n[exit 1]", time.Second},
		"longest": {`{"id":"bg1","wait":9999}`, func(j *fakeJob, _ chan struct{}) { j.write("x\n") }, "x\n[running for 600 s]", 10 * time.Minute},
		"steered": {`{"id":"bg1","wait":600}`, func(_ *fakeJob, steered chan struct{}) { close(steered) },
			"(no new output in 1 s)\n[running for 1 s; the wait ended early, since the user added a message]", time.Second},
		"earlier output": {`{"id":"bg1","until":"early","wait":600}`, func(*fakeJob, chan struct{}) {}, "early\n[running for 0 s; matched]", 0},
		"wrong pattern":  {`{"id":"bg1","until":"("}`, func(*fakeJob, chan struct{}) {}, "not a regular expression (RE2)", 0},
		"long pattern":   {`{"id":"bg1","until":"` + strings.Repeat("x", maxPattern+1) + `"}`, func(*fakeJob, chan struct{}) {}, "the limit is", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{}
				e := New(f, "/", setting.Default[Config]())
				run(t, e, call(Tool, npm))
				if strings.Contains(tt.input, "early") {
					f.jobs[0].write("early\n")
				}
				steered := make(chan struct{})
				over := time.AfterFunc(time.Second, func() { tt.after(f.jobs[0], steered) })
				defer over.Stop()
				c := call(toolOutput, tt.input)
				c.Steered = steered
				begin := time.Now()
				got := run(t, e, c).ForModel()
				if !strings.Contains(got, tt.want) || time.Since(begin).Round(time.Second) != tt.took {
					t.Errorf("got %q after %s", got, time.Since(begin))
				}
			})
		})
	}
}

// A wait sees each line once, however it arrives.
func TestMatcher(t *testing.T) {
	for name, tt := range map[string]struct {
		pattern string
		pieces  []string
		want    int // the piece that matches; -1 means none
	}{
		"split":           {"^ab$", []string{"x\na", "b", "\n"}, 1},
		"not across ends": {"ab", []string{"a\n", "b\n"}, -1},
		"progress":        {"100%", []string{"1%\r", "50%\r10", "0%"}, 2},
		"long line":       {"yx", []string{strings.Repeat("x", 3*maxPending), "y", "x"}, 2},
		"empty line":      {"^$", []string{"a", "\n\n"}, 1},
		"title":           {"^ready$", []string{"\x1b]0;title\x07ready"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &matcher{pattern: regexp.MustCompile(tt.pattern)}
			got := -1
			for i, p := range tt.pieces {
				if got < 0 && m.match(p) {
					got = i
				}
			}
			if got != tt.want {
				t.Errorf("piece %d matches, want %d", got, tt.want)
			}
		})
	}
}

// The end of a command is told once, unless bash_output has shown it.
func TestFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		for range 3 {
			run(t, e, call(Tool, npm))
		}
		if got := e.Finished(); got != nil {
			t.Errorf("all run, got %q", got)
		}
		f.jobs[0].end(0)
		f.jobs[1].end(2)
		run(t, e, call(toolOutput, `{"id":"bg1"}`))
		const want = "bg2 ended in the background (exit 2): `npm run dev`."
		if got := e.Finished(); len(got) != 1 || got[0].Text() != want {
			t.Errorf("got %q", got)
		}
		if got := e.Finished(); got != nil {
			t.Errorf("told twice: %q", got)
		}
		if err := e.StopJob(t.Context(), "bg3"); err != nil || f.jobs[2].stopped != 1 || len(e.Finished()) != 1 {
			t.Errorf("%v, stopped %d times", err, f.jobs[2].stopped)
		}
		var failure *executors.Failure
		if err := e.StopJob(t.Context(), "bg9"); !errors.As(err, &failure) {
			t.Error(err)
		}
		if got := e.Jobs(); strings.Join(got, " ") != "bg2 bg3" {
			t.Errorf("jobs %q", got)
		}
	})
}

func TestAwaitAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		e := New(f, "/", setting.Default[Config]())
		e.AwaitAll(t.Context()) // there is none
		run(t, e, call(Tool, npm))
		run(t, e, call(Tool, npm))
		begin := time.Now()
		time.AfterFunc(time.Minute, func() { f.jobs[1].end(0) })
		time.AfterFunc(time.Hour, func() { f.jobs[0].end(0) })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if e.AwaitAll(ctx); time.Since(begin) != 10*time.Minute || len(e.Commands()) != 1 {
			t.Errorf("after %s %q run", time.Since(begin), e.Commands())
		}
		if e.AwaitAll(t.Context()); time.Since(begin) != time.Hour || len(e.Commands()) != 0 {
			t.Errorf("after %s %q run", time.Since(begin), e.Commands())
		}
	})
}
