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

// endless is a fake whose commands end only in the background.
type endless struct{ *fake }

func (e endless) Run(ctx context.Context, c Command) (Output, error) {
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), ErrGoOn) {
		j, err := e.fake.Background(ctx, c)
		return Output{Job: j}, err
	}
	return Output{Text: "so far\n"}, context.Cause(ctx)
}

// A command that takes longer than its call goes on in the background, up to max_timeout. The
// model gets its output so far and its id.
func TestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{begin: func(j *fakeJob) { j.write("compiling\n") }}
		e := New(endless{f}, "/", setting.Default[Config]())
		begin := time.Now()
		got := run(t, e, bashCall("make"))
		want := "compiling\n[still running after 30 s; it goes on in the background as bg1, for at most 600 s in all: " +
			"bash_output bg1 with wait returns the rest, bash_stop bg1 ends it]"
		if got.ForModel() != want || got.Failed || time.Since(begin) != 30*time.Second {
			t.Errorf("after %s: %+v", time.Since(begin), got)
		}
		if list := e.Background(); len(list) != 1 || list[0] != "bg1: make (running for 30 s)" {
			t.Errorf("in the background: %q", list)
		}
		f.jobs[0].write("done\n")
		f.jobs[0].end(0)
		if got := run(t, e, call(toolOutput, `{"id":"bg1","wait":600}`)); got.ForModel() != "done\n[exit 0]" || got.Failed {
			t.Errorf("its end: %+v", got)
		}

		begin = time.Now()
		run(t, e, call(Tool, `{"command":"sleep 9999","timeout":5}`))
		got = run(t, e, call(toolOutput, `{"id":"bg2","wait":600}`))
		if !strings.HasSuffix(got.ForModel(), "[stopped after 600 s (tools.shell.max_timeout)]") || time.Since(begin) != 600*time.Second || !got.Failed {
			t.Errorf("after %s: %+v", time.Since(begin), got)
		}
		run(t, e, bashCall("make again"))
		if err := e.Close(); err != nil || f.jobs[2].stopped != 1 {
			t.Errorf("Close: %v, stopped %d times", err, f.jobs[2].stopped)
		}
		time.Sleep(time.Hour)
		if f.jobs[2].stopped != 1 {
			t.Error("a job was stopped after its session was closed")
		}
	})
}

// Commands that no one could look at later are stopped, and the user's own have no limit.
func TestDoesNotGoOn(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Config, *executors.Call)
		want   string
		took   time.Duration
	}{
		"on_timeout":    {func(c *Config, _ *executors.Call) { c.OnTimeout = killLate }, "stopped after 30s", 30 * time.Second},
		"no background": {func(c *Config, _ *executors.Call) { c.MaxBackground = 0 }, "stopped after 30s", 30 * time.Second},
		"of the agent":  {func(_ *Config, c *executors.Call) { c.Origin = executors.Agent }, "stopped after 30s", 30 * time.Second},
		"with secrets":  {func(_ *Config, c *executors.Call) { c.Env = []string{"KEY=x"} }, "stopped after 30s", 30 * time.Second},
		"of the user":   {func(_ *Config, c *executors.Call) { c.Origin = executors.User }, "so far", time.Hour},
		"no free place": {func(c *Config, _ *executors.Call) { c.MaxBackground = 1 },
			"it could not go on in the background: the limit of 1 command", 30 * time.Second},
		"of the session": {func(c *Config, _ *executors.Call) { c.MaxBackground = 2 }, "goes on in the background as bg2", 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, c := setting.Default[Config](), bashCall("make")
				tt.change(&cfg, c)
				f := &fake{}
				e := New(endless{f}, "/", cfg)
				defer e.Close()
				if cfg.MaxBackground > 0 {
					run(t, e, call(Tool, npm))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begin := time.Now()
				got, err := e.Execute(ctx, c)
				if (err != nil) != (tt.took == time.Hour) || !strings.Contains(got.ForModel(), tt.want) || time.Since(begin).Truncate(2*time.Second) != tt.took {
					t.Errorf("after %s: %v, %s", time.Since(begin), err, got.ForModel())
				}
			})
		})
	}
}

// The description says what happens at the end of the time.
func TestDescriptionOfLate(t *testing.T) {
	cfg := setting.Default[Config]()
	for _, tt := range []struct{ onTimeout, has, lacks string }{{"background", goesOn, isLimited}, {killLate, isLimited, goesOn}} {
		cfg.OnTimeout = tt.onTimeout
		tool, _ := executors.Find(New(nil, "", cfg).Tools(), Tool)
		if !strings.Contains(tool.Description, tt.has) || strings.Contains(tool.Description, tt.lacks) {
			t.Errorf("%s: %s", tt.onTimeout, tool.Description)
		}
	}
}
