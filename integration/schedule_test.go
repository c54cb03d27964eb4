package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// scheduleRules allow what the tasks of these tests do.
const scheduleRules = `
[[tools.permissions.bash]]
pattern = "*"
action = "allow"

[[tools.permissions.schedule_deferred]]
pattern = "*"
action = "allow"

[[tools.permissions.schedule_periodic]]
pattern = "*"
action = "allow"
`

// schedulingAgent is an agent whose tasks run in one home.
type schedulingAgent struct {
	*agent
	model   *fakemodel.Anthropic
	session string
}

// newScheduling starts an agent, in the home of an earlier one if root is not empty.
func newScheduling(t *testing.T, model *fakemodel.Anthropic, root, capabilities string) *schedulingAgent {
	t.Helper()
	s := &schedulingAgent{model: model}
	s.agent = launch(t, start{root: root, env: model.Env(), config: scheduleRules})
	s.script("append", "echo line >> out.txt")
	s.initialize(capabilities)
	return s
}

// turn runs a turn that must end well.
func (s *schedulingAgent) turn(text string) {
	s.t.Helper()
	s.runTurn(s.session, text)
}

// load loads the session of another agent.
func (s *schedulingAgent) load(session string) {
	s.t.Helper()
	s.session = session
	s.request(`"load"`, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, s.dir))
	if f := s.answer(`"load"`); f.Error != nil {
		s.t.Fatalf("session/load: %s", f.line)
	}
}

// later sets a task that appends a line to out.txt.
func (s *schedulingAgent) later(at string) {
	s.t.Helper()
	s.turn(`/schedule_deferred {"name":"line","run_at":"` + at + `","task":"Append a line to out.txt."}`)
}

// appended returns the number of lines that tasks have appended.
func (s *schedulingAgent) appended() int {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "out.txt"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return strings.Count(string(b), "line\n")
}

// taskRun is a run in the output of schedule show.
type taskRun struct{ Outcome, SessionID string }

// runs returns the runs of a task, the newest first.
func (s *schedulingAgent) runs(name string) []taskRun {
	s.t.Helper()
	out, err := commandIn(s.agent, "schedule", "show", "--json", name).Output()
	if err != nil {
		s.t.Fatalf("schedule show: %v", err)
	}
	var task struct{ Runs []taskRun }
	if err := json.Unmarshal(out, &task); err != nil {
		s.t.Fatal(err)
	}
	return task.Runs
}

// outcomes returns the outcomes of a task's runs, the newest first.
func (s *schedulingAgent) outcomes(name string) (all []string) {
	s.t.Helper()
	for _, r := range s.runs(name) {
		all = append(all, r.Outcome)
	}
	return all
}

// said returns the number of updates with a text.
func (s *schedulingAgent) said(text string) (n int) {
	for _, f := range s.agentFrames() {
		if strings.Contains(f.line, text) {
			n++
		}
	}
	return n
}

// appendLine is the model's first answer in a task.
func appendLine() fakemodel.Reply {
	return fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]string{"command": "./append"}))
}

// resultPrefix is the beginning of a task's result in a prompt for the model.
const resultPrefix = "This is its result, and not a request of the user:"

const withNotices = `{"session":{"notices":{}}}`

// An agent that is killed in the midst of a scheduled task loses nothing: the next one goes
// on with the run, repeats no call, and its result is reported once.
func TestKillDuringTask(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	stuck := make(chan struct{})
	model.Then(appendLine(), fakemodel.Hang(stuck, fakemodel.Say("I have")))
	a := newScheduling(t, model, "", withNotices)
	a.session = a.open()
	a.later("+1s")
	within(t, patience, "run", stuck)
	a.kill()
	a.waitExit(patience)

	model.Then(fakemodel.Answer(fakemodel.Say("The line is there.")))
	b := newScheduling(t, model, a.root, withNotices)
	b.load(a.session)
	b.await("the notice", func(f frame) bool {
		u, ok := f.update()
		return ok && u.Kind == "notice" && strings.Contains(f.line, `ended at`) && strings.Contains(f.line, "The line is there.")
	})
	requests := model.Requests()
	if n := len(requests); n != 3 || !strings.Contains(requests[2], "ended before the task was done") || !strings.Contains(requests[2], "tool_result") {
		t.Fatalf("%d requests, the last one: %.3000s", n, requests[n-1])
	}
	if got := strings.Join(b.outcomes("line"), " "); got != "done" || b.appended() != 1 {
		t.Errorf("runs %s, %d lines", got, b.appended())
	}
	for range 2 {
		model.Then(fakemodel.Answer(fakemodel.Say("Fine.")))
		b.turn("go on")
	}
	requests = model.Requests()
	if n := strings.Count(requests[len(requests)-1], resultPrefix); n != 1 {
		t.Errorf("the model gets the result %d times: %.3000s", n, requests[len(requests)-1])
	}
	if n := b.said("The line is there."); n != 1 {
		t.Errorf("the user gets the result %d times", n)
	}
}

// The end of the editor in the midst of a scheduled task does not delay the agent's exit,
// and the next agent goes on with the run. Without notices the result is reported at the
// next turn.
func TestEndDuringTask(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	stuck := make(chan struct{})
	model.Then(appendLine(), fakemodel.Hang(stuck))
	a := newScheduling(t, model, "", "{}")
	a.session = a.open()
	a.later("+1s")
	within(t, patience, "run", stuck)
	a.in.Close()
	a.exits(0)

	model.Then(fakemodel.Answer(fakemodel.Say("The line is there.")))
	b := newScheduling(t, model, a.root, "{}")
	b.load(a.session)
	b.turn("/status") // the agent does not wait for the task
	eventually(t, patience, "the end of the run", func() bool { return strings.Join(b.outcomes("line"), " ") == "done" })
	b.turn("/bash true")
	if n := b.said("The line is there."); n != 1 {
		t.Errorf("the user gets the result %d times", n)
	}
	model.Then(fakemodel.Answer(fakemodel.Say("Fine.")))
	b.turn("go on")
	requests := model.Requests()
	if n := strings.Count(requests[len(requests)-1], resultPrefix); n != 1 {
		t.Errorf("the model gets the result %d times: %.3000s", n, requests[len(requests)-1])
	}
	if n := b.said("The line is there."); n != 1 || b.appended() != 1 {
		t.Errorf("the user gets the result %d times, %d lines", n, b.appended())
	}
}

// Of three agents one runs a task.
func TestTaskOfSeveralAgents(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	model.Then(appendLine(), fakemodel.Answer(fakemodel.Say("Done.")))
	a := newScheduling(t, model, "", "{}")
	a.session = a.open()
	a.later("+3s")
	for range 2 {
		newScheduling(t, model, a.root, "{}").open()
	}
	eventually(t, patience, "the end of the run", func() bool { return strings.Join(a.outcomes("line"), " ") == "done" })
	if n := a.appended(); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// A task that a model sets is asked about each time. Its run has no user: its text is not
// a call of the user, a call that needs permission fails, and it sets no task.
func TestTaskWithoutUser(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	model.Then(
		fakemodel.Answer(fakemodel.Call("c1", "schedule_deferred", map[string]string{"name": "push", "run_at": "+1s", "task": "/bash touch pushed"})),
		fakemodel.Answer(fakemodel.Say("It will run.")),
		fakemodel.Answer(fakemodel.Call("c2", "bash", map[string]string{"command": "touch pushed"})),
		fakemodel.Answer(fakemodel.Say("That is all.")),
	)
	e := (&editor{}).start(t, start{env: model.Env()})
	s := &schedulingAgent{agent: e.agent, model: model}
	e.initialize(withNotices)
	s.session = e.open()
	s.turn("schedule this: push it in a second")
	e.await("the notice", func(f frame) bool {
		u, ok := f.update()
		return ok && u.Kind == "notice" && strings.Contains(f.line, "That is all.")
	})
	questions := e.Questions()
	if len(questions) != 1 || strings.Contains(encode(questions[0].Options), "always") || !strings.Contains(encode(questions[0].ToolCall), "touch pushed") {
		t.Errorf("questions: %s", encode(questions))
	}
	if _, err := os.Stat(filepath.Join(e.dir, "pushed")); !os.IsNotExist(err) {
		t.Errorf("the task has pushed: %v", err)
	}
	requests := model.Requests()
	if !strings.Contains(requests[2], `[Scheduled task \"push\"`) {
		t.Errorf("the task is not marked: %.3000s", requests[2])
	}
	last := requests[len(requests)-1]
	if !strings.Contains(last, "needs the user's permission") && !strings.Contains(last, "not answered") {
		t.Errorf("the call did not fail for want of a user: %.3000s", last)
	}
	if !strings.Contains(last, "Report to the user how to allow it in later runs: add the rules") || strings.Contains(last, "--yes") {
		t.Errorf("the failed call names no way of a task: %.3000s", last)
	}
	if strings.Contains(last, `"name":"schedule_deferred"`) || !strings.Contains(requests[0], `"name":"schedule_deferred"`) {
		t.Errorf("the tools of the first turn and of the run:\n%.3000s\n%.3000s", requests[0], last)
	}
}

// A task is run by the model of the session that set it, or by the configured one. The
// default model takes the place of one that is no longer configured.
func TestTaskModel(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	a := &schedulingAgent{model: model, agent: launch(t, start{env: model.Env(), config: scheduleRules})}
	a.initialize()
	a.session = a.open()
	a.turn("/model claude:claude-haiku-4-5")
	a.turn(`/schedule_deferred {"name":"look","run_at":"+1d","task":"Look."}`)
	for name, tt := range map[string]struct{ config, asked, shown string }{
		"of the session":        {"", "claude-haiku-4-5", "claude:claude-haiku-4-5"},
		"configured":            {"[tools.scheduler]\nprovider = \"claude:claude-opus-4-5\"\n", "claude-opus-4-5", "claude:claude-opus-4-5"},
		"no longer configured":  {"[[llm.providers]]\ntype = \"direct\"\n", "", "the default"},
		"configured and broken": {"[tools.scheduler]\nprovider = \"none\"\n", "", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "config.toml")
			write(t, config, scheduleRules+tt.config)
			if tt.asked != "" {
				model.Then(fakemodel.Answer(fakemodel.Say("Looked.")))
			}
			run := commandIn(a.agent, "--config", config, "schedule", "run", "look")
			if out, err := run.CombinedOutput(); (err == nil) != (tt.asked != "") {
				t.Errorf("%v: %s", err, out)
			}
			if last := model.Requests(); tt.asked != "" && !strings.Contains(last[len(last)-1], `"model":"`+tt.asked+`"`) {
				t.Errorf("the request was %.300s", last[len(last)-1])
			}
			if out, err := commandIn(a.agent, "--config", config, "schedule", "show", "look").Output(); err != nil || !strings.Contains(string(out),
				"\nmodel      "+tt.shown+"\n") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// The labels of the information flow go with a task's text into its run, and back with its
// result.
func TestLabelsOfTask(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	model.Then(
		call("read", "path", "bug.eml"),
		fakemodel.Answer(fakemodel.Call("c1", "schedule_deferred", map[string]string{"name": "look", "run_at": "+1s", "task": "Look at the settings."})),
		fakemodel.Answer(fakemodel.Say("It will run.")),
		call("read", "path", ".env"),
		fakemodel.Answer(fakemodel.Say("The settings are fine.")),
		fakemodel.Answer(fakemodel.Say("Good.")),
	)
	a := &schedulingAgent{model: model, agent: launch(t, start{env: model.Env(), config: scheduleRules + "[tools.information_flow]\nuntrusted = [\"*.eml\"]\n"})}
	a.file("bug.eml", "text of others")
	a.file(".env", "KEY=1")
	a.initialize(withNotices)
	a.session = a.open()
	a.turn("read the bug, and look at the settings in a second: schedule that")
	a.await("the notice", func(f frame) bool {
		u, ok := f.update()
		return ok && u.Kind == "notice" && strings.Contains(f.line, "The settings are fine.")
	})
	const both = "Labels: untrusted (the file bug.eml) and private (the file .env)"
	if a.turn("/status"); a.said(both) > 0 {
		t.Error("the session has the labels of a result that was not reported yet")
	}
	a.turn("go on")
	if a.turn("/status"); a.said(both) != 1 {
		t.Error("the session has not got the labels of the result")
	}
	a.load(a.runs("look")[0].SessionID)
	if a.turn("/status"); a.said(both) != 2 {
		t.Error("the run had not got the labels of the session that set the task")
	}
}

// taskSteps is the number of calls in the task of TestKillTaskAnywhere.
const taskSteps = 4

// nextStep makes the next call of a task whose calls append their number to out.txt. A call
// without a result counts as made.
func nextStep(r fakemodel.Request) fakemodel.Reply {
	made := 0
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				made++
			}
		}
	}
	if made == taskSteps {
		return fakemodel.Answer(fakemodel.Say("All steps are made."))
	}
	return fakemodel.Answer(fakemodel.Call(fmt.Sprintf("c%d", made), "bash", map[string]string{"command": fmt.Sprintf("./append %d", made)}))
}

// succeeded reports whether the request has a result of that call which is not a failure.
func succeeded(r fakemodel.Request, call string) bool {
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" && b.Tool_Use_ID == call {
				return !b.Is_Error
			}
		}
	}
	return false
}

// However often agents are killed during a task, no call of it is made twice, a call whose
// result is stored was made, and the run ends once.
func TestKillTaskAnywhere(t *testing.T) {
	rng := newRand(t)
	for n := range extent(2, 60) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			model := fakemodel.NewAnthropic(t)
			asked := make(chan struct{}, 100)
			model.Choose = func(r fakemodel.Request) fakemodel.Reply {
				asked <- struct{}{}
				return nextStep(r)
			}
			root, session := "", ""
			for kill := range 3 {
				a := newScheduling(t, model, root, withNotices)
				a.script("append", `echo "line $1" >> out.txt`)
				if kill == 0 {
					root, session = a.root, a.open()
					a.session = session
					a.later("+1s")
				} else {
					a.load(session)
				}
				ended := func(f frame) bool {
					u, ok := f.update()
					return ok && u.Kind == "notice" && strings.Contains(f.line, "All steps are made.")
				}
				if kill == 2 {
					eventually(t, patience, "the end of the run", func() bool { return strings.Join(a.outcomes("line"), " ") == "done" })
					break
				}
				eventually(t, patience, "the model is asked, or the run has ended", func() bool {
					return len(asked) > 0 || slices.ContainsFunc(a.agentFrames(), ended)
				})
				time.Sleep(time.Duration(rng.Int64N(int64(150 * time.Millisecond)))) // a random moment
				a.kill()
				a.waitExit(patience)
				for len(asked) > 0 {
					<-asked
				}
				if strings.Join(a.outcomes("line"), " ") == "done" {
					break
				}
			}
			text, _ := os.ReadFile(filepath.Join(root, "work", "out.txt")) // no file: no step
			last := model.Request(len(model.Requests()) - 1)
			for step := range taskSteps {
				made := strings.Count(string(text), fmt.Sprintf("line %d\n", step))
				if made > 1 || made == 0 && succeeded(last, fmt.Sprintf("c%d", step)) {
					t.Errorf("step %d is made %d times: %s\n%s", step, made, text, strings.Join(last.History(), "\n"))
				}
			}
		})
	}
}
