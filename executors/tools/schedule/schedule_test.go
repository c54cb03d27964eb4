package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// memory is a Store.
type memory struct{ tasks []Task }

func (m *memory) find(cwd, name string) int {
	return slices.IndexFunc(m.tasks, func(t Task) bool { return t.CWD == cwd && t.Name == name })
}

func (m *memory) Put(_ context.Context, t Task, most int) (bool, error) {
	if i := m.find(t.CWD, t.Name); i >= 0 {
		m.tasks[i] = t
		return true, nil
	}
	if len(m.tasks) >= most {
		return false, ErrTooMany
	}
	m.tasks = append(m.tasks, t)
	return false, nil
}

func (m *memory) List(context.Context, string) ([]Task, error) { return m.tasks, nil }

func (m *memory) Delete(_ context.Context, cwd, name string) (bool, error) {
	i := m.find(cwd, name)
	if i >= 0 {
		m.tasks = slices.Delete(m.tasks, i, i+1)
	}
	return i >= 0, nil
}

// monday is the current time of these tests.
var monday = time.Date(2026, 11, 23, 12, 30, 0, 0, time.UTC)

// newExecutor returns the tools of a session of mode code, with a store of three tasks.
func newExecutor() (*Executor, *memory) {
	m := &memory{}
	e := New(&Executor{
		Store: m, Config: setting.Default[Config](), CWD: "/w", Session: "s", Now: func() time.Time { return monday }, Changed: func() {},
		Model: func() string { return "claude:a" },
		Mode: func(wanted string) (string, error) {
			if wanted == "auto" {
				return "", errors.New("too loose")
			}
			if wanted == "" {
				wanted = "code"
			}
			return wanted, nil
		},
	})
	e.Config.MaxTasks, e.Config.Timezone = 3, "UTC"
	e.Offer()
	return e, m
}

// call makes a call as the chain does.
func call(t *testing.T, e *Executor, origin executors.Origin, tool, input string) (executors.Card, executors.Result) {
	t.Helper()
	chain := executors.Chain(e, executors.Validate)
	c := &executors.Call{Tool: tool, Input: json.RawMessage(input), Origin: origin, Record: &executors.Record{}, Notify: func(executors.Event) {}}
	c.Card, c.PrepareErr = chain.Prepare(t.Context(), c)
	if c.PrepareErr != nil {
		return c.Card, executors.FailWith(c.PrepareErr)
	}
	res, err := chain.Execute(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return c.Card, res
}

func TestSet(t *testing.T) {
	e, m := newExecutor()
	for _, tt := range []struct {
		tool, input string
		origin      executors.Origin
		title, text string
		want        Task
	}{
		{"schedule_periodic", `{"name":"nightly","cron":" 0  3 * * * ","task":"run the\ntests\u0007"}`, executors.Model,
			"Schedule nightly `0 3 * * *, first at Tue 2026-11-24 03:00:00 +00:00 in mode code` `run the ⏎ tests`",
			`Set the task "nightly": it runs Tue 2026-11-24 03:00:00 +00:00, then by the cron expression "0 3 * * *", in mode code, while an agent runs.`,
			Task{CWD: "/w", Name: "nightly", Session: "s", Cron: "0 3 * * *", Prompt: "run the\ntests", Mode: "code", Model: "claude:a",
				Next: time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)}},
		{"schedule_deferred", `{"name":"once","run_at":"in 5 minutes","task":"/bash ls","mode":"ask"}`, executors.User,
			"Schedule once `at Mon 2026-11-23 12:35:00 +00:00 in mode ask` `/bash ls`",
			`Set the task "once": it runs Mon 2026-11-23 12:35:00 +00:00, in mode ask, while an agent runs.`,
			Task{CWD: "/w", Name: "once", Session: "s", Prompt: "/bash ls", Mode: "ask", Model: "claude:a", Typed: true, Next: monday.Add(5 * time.Minute)}},
		{"schedule_periodic", `{"name":"once","cron":"@hourly","task":"x"}`, executors.Model,
			"Schedule once `@hourly, first at Mon 2026-11-23 13:00:00 +00:00 in mode code` `x`",
			`Replaced the task "once": it runs Mon 2026-11-23 13:00:00 +00:00, then by the cron expression "@hourly", in mode code, while an agent runs.`,
			Task{CWD: "/w", Name: "once", Session: "s", Cron: "@hourly", Prompt: "x", Mode: "code", Model: "claude:a", Next: monday.Add(30 * time.Minute)}},
	} {
		card, res := call(t, e, tt.origin, tt.tool, tt.input)
		if card.Title != tt.title || !card.Deferred || res.ForModel() != tt.text {
			t.Errorf("%s: got %+v\n%s\nwant %s, deferred\n%s", tt.input, card, res.ForModel(), tt.title, tt.text)
		}
		if diff := cmp.Diff(tt.want, m.tasks[m.find("/w", tt.want.Name)]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.input, diff)
		}
	}
}

func TestSetFails(t *testing.T) {
	for input, want := range map[string]string{
		`{"name":"a","cron":"* * * *","task":"x"}`:                                   `cron "* * * *": 4 fields`,
		`{"name":"a","cron":"0 0 31 2 *","task":"x"}`:                                "no such date comes",
		`{"name":"a","cron":"*/4 * * * *","task":"x"}`:                               "runs would be 240 seconds apart, and tools.scheduler.min_interval_minutes = 5",
		`{"name":"a","cron":"0,59 9 * * *","task":"x"}`:                              "",
		`{"name":"a","cron":"58,59 9 * * *","task":"x"}`:                             "runs would be 60 seconds apart",
		`{"name":"a","cron":"0,30 0 9 * * *","task":"x"}`:                            "runs would be 30 seconds apart",
		`{"name":"a","cron":"0 9 * * *","task":"x","mode":"auto"}`:                   "mode: too loose",
		`{"name":"a","cron":"0 9 * * *","task":"\u0000 "}`:                           "task: want the prompt",
		`{"name":"a\nb","cron":"0 9 * * *","task":"x"}`:                              "name: want a name on one line",
		`{"name":"","cron":"0 9 * * *","task":"x"}`:                                  "name",
		`{"name":"` + strings.Repeat("a", 129) + `","cron":"0 9 * * *","task":"x"}`:  "name",
		`{"name":"a","cron":"0 9 * * *","task":"` + strings.Repeat("a", 4001) + `"}`: "task",
		`{"name":"a","task":"x"}`:                                                    "cron is missing",
	} {
		e, m := newExecutor()
		_, res := call(t, e, executors.Model, "schedule_periodic", input)
		if want == "" {
			if res.Failed {
				t.Errorf("%s: %s", input, res.ForModel())
			}
			continue
		}
		if !res.Failed || !strings.Contains(res.ForModel(), want) || len(m.tasks) > 0 {
			t.Errorf("%s: want %s, got %s", input, want, res.ForModel())
		}
	}
}

func TestLimit(t *testing.T) {
	e, _ := newExecutor()
	set := func(n int) executors.Result {
		_, res := call(t, e, executors.Model, "schedule_deferred", fmt.Sprintf(`{"name":"n%d","run_at":"+1h","task":"x"}`, n))
		return res
	}
	for n := range 3 {
		if res := set(n); res.Failed {
			t.Fatalf("set(n): got %s, want success", res.ForModel())
		}
	}
	if res := set(2); res.Failed { // a known name
		t.Errorf("set(2): got %s, want success", res.ForModel())
	}
	if res := set(3); !strings.Contains(res.ForModel(), "the limit of 3 tasks (tools.scheduler.max_tasks) is reached") {
		t.Errorf("set(3): got %s, want %q in it", res.ForModel(), "the limit of 3 tasks (tools.scheduler.max_tasks) is reached")
	}
	if _, res := call(t, e, executors.Model, "cancel_task", `{"name":" n1 "}`); res.Failed {
		t.Errorf("got %s, want success", res.ForModel())
	}
	if _, res := call(t, e, executors.Model, "cancel_task", `{"name":"n1"}`); !strings.Contains(res.ForModel(), `there is no task "n1"`) {
		t.Errorf("got %s, want %q in it", res.ForModel(), `there is no task "n1"`)
	}
	if res := set(3); res.Failed {
		t.Errorf("set(3): got %s, want success", res.ForModel())
	}
}

func TestList(t *testing.T) {
	e, m := newExecutor()
	if _, res := call(t, e, executors.Model, "list_tasks",
		`{}`); res.ForModel() != "Now: Mon 2026-11-23 12:30:00 +00:00\nNo task is scheduled in this project.\n" {
		t.Errorf("got %q, want %q", res.ForModel(), "Now: Mon 2026-11-23 12:30:00 +00:00\nNo task is scheduled in this project.\n")
	}
	m.tasks = []Task{
		{Name: "a", Cron: "@daily", Prompt: strings.Repeat("é", 201), Mode: "code", Next: monday, Last: Outcome{Started: monday, Ended: monday, Result: "done"}},
		{Name: "b", Prompt: "x", Mode: "ask", Last: Outcome{Started: monday}},
	}
	want := "Now: Mon 2026-11-23 12:30:00 +00:00\n" +
		`- a: cron "@daily", next Mon 2026-11-23 12:30:00 +00:00; last done Mon 2026-11-23 12:30:00 +00:00; mode code; task: ` + strings.Repeat("é", 200) + "…\n" +
		"- b: not due again; runs since Mon 2026-11-23 12:30:00 +00:00; mode ask; task: x\n"
	if _, res := call(t, e, executors.Model, "list_tasks", `{}`); res.ForModel() != want {
		t.Errorf("got %q, want %q", res.ForModel(), want)
	}
}

// The calls in the documentation are valid.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/goals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tasks, _ := strings.Cut(string(page), "\n## Scheduled tasks\n")
	calls := 0
	for line := range strings.Lines(tasks) {
		name, input, ok := strings.Cut(strings.TrimPrefix(line, "/"), " ")
		if !ok || !strings.HasPrefix(line, "/") {
			continue
		}
		calls++
		e, m := newExecutor()
		if _, res := call(t, e, executors.User, name, input); res.Failed || len(m.tasks) != 1 {
			t.Errorf("%s%s", line, res.ForModel())
		}
	}
	if calls != 2 {
		t.Errorf("got %d calls, want 2", calls)
	}
}

func TestOfferFor(t *testing.T) {
	for prompt, offered := range map[string]bool{
		"Run the tests every day at three": true,
		"please REMIND me":                 true,
		"every\n  morning":                 true,
		"/list_tasks":                      true,
		"/schedule_periodic {}":            true,
		"check again in 20 minutes":        true,
		"Erinnere mich morgen um neun":     true,
		"prends note chaque semaine":       true,
		"напомни мне завтра":               true,
		"毎日テストして":                          true,
		"fix the bug in main.go":           false,
		"rename every file":                false,
		"explain the last minute change":   false,
		"what is max_run_minutes":          false,
		"":                                 false,
	} {
		e := New(&Executor{})
		e.OfferFor(prompt)
		want := 0
		if offered {
			want = 4
		}
		if got := len(e.Tools()); got != want {
			t.Errorf("after %q: %d tools are offered, want %d", prompt, got, want)
		}
		e.OfferFor("fix the bug")
		if got := len(e.Tools()); got != want {
			t.Errorf("after %q and a prompt about no time: %d tools are offered, want %d", prompt, got, want)
		}
	}
}

func TestTighten(t *testing.T) {
	for name, tt := range map[string]struct {
		repo, want Config
		ignored    []string
	}{
		"stricter": {Config{Enabled: false, MaxTasks: 5, MinIntervalMinutes: 60, MaxRunMinutes: 30, MaxRounds: 7},
			Config{Enabled: false, MaxTasks: 5, MinIntervalMinutes: 60, MaxRunMinutes: 30, MaxRounds: 7}, nil},
		"looser": {Config{Enabled: true, MaxTasks: 500, MinIntervalMinutes: 1, MaxRunMinutes: 1, MaxRounds: 101}, setting.Default[Config](),
			[]string{"max_rounds", "max_run_minutes", "max_tasks", "min_interval_minutes"}},
	} {
		got, ignored := setting.Tighten(setting.Default[Config](), tt.repo, setting.Paths[Config]()...)
		if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.ignored, ignored); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestValidate(t *testing.T) {
	wrong := setting.Check(Config{MaxTasks: 0, MinIntervalMinutes: -1, MaxRunMinutes: 1 << 40, Timezone: "Moon/Sea"})
	if len(wrong) != 5 || setting.Check(setting.Default[Config]())["timezone"] != "" || len(setting.Check(setting.Default[Config]())) > 0 {
		t.Error(wrong, setting.Check(setting.Default[Config]()))
	}
}

func BenchmarkOfferFor(b *testing.B) {
	prompt := strings.Repeat("fix the bug in main.go and run all tests again ", 20)
	b.ReportAllocs()
	e := New(&Executor{})
	for b.Loop() {
		e.OfferFor(prompt)
	}
}
