package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// allowCommands lets the commands of these tests run without a question.
const allowCommands = `
[[tools.permissions.bash]]
pattern = "*"
action = "allow"
`

// goalSteps is the number of steps of a goal, and turnSteps the number in one turn.
const (
	goalSteps = 8
	turnSteps = 3
)

// stepsGoal is a goal whose steps must not be repeated.
var stepsGoal = fmt.Sprintf("/goal --until 'test $(wc -l < out.txt) -ge %d' Append the numbers from 0 to %d to out.txt, each once.", goalSteps, goalSteps-1)

// steppingModel is a careful model: it makes one step after the other, ends its turn after some,
// and looks at the file before it continues after a break.
func steppingModel(r fakemodel.Request) fakemodel.Reply {
	next, made, mustLook := 0, 0, false
	looks := map[string]bool{} // the ids of the calls that look
	for _, m := range r.Messages {
		for _, b := range m.Content {
			var result []struct{ Text string }
			text := ""
			if json.Unmarshal(b.Content, &result) == nil && len(result) > 0 {
				text = result[0].Text
			} else {
				_ = json.Unmarshal(b.Content, &text)
			}
			switch {
			case b.Type == "text" && strings.Contains(b.Text, "Answer with one line: MET"):
				return fakemodel.Answer(fakemodel.Say(fmt.Sprint("NOT MET: more than ", strings.Count(b.Text, ">> out.txt"), " steps")))
			case b.Type == "text" && m.Role == "user":
				made = 0
				mustLook = mustLook || strings.Contains(b.Text, "after a break")
			case b.Type == "tool_use":
				looks[b.ID] = strings.HasPrefix(b.ID, "look")
			case b.Type == "tool_result" && looks[b.Tool_Use_ID]:
				if !b.Is_Error {
					next, mustLook = strings.Count(text, "\n"), false
				}
			case b.Type == "tool_result" && !b.Is_Error:
				next++
				made++
			case b.Type == "tool_result":
				mustLook = true
			}
		}
	}
	id := fmt.Sprint(len(r.Messages))
	switch {
	case mustLook:
		return fakemodel.Answer(fakemodel.Call("look"+id, "bash", map[string]string{"command": "touch out.txt; cat out.txt; echo; :"}))
	case next >= goalSteps:
		return fakemodel.Answer(fakemodel.Say("All steps are done."))
	case made == turnSteps:
		return fakemodel.Answer(fakemodel.Say("Some steps are done."))
	}
	return fakemodel.Answer(fakemodel.Call("step"+id, "bash", map[string]string{"command": fmt.Sprintf("echo %d >> out.txt", next)}))
}

// newStepping starts an agent with that model, in the home of an earlier one if root is not empty.
func newStepping(t *testing.T, root string) *agent {
	t.Helper()
	model := fakemodel.NewAnthropic(t)
	model.Choose = steppingModel
	a := launch(t, start{root: root, env: model.Env(), config: allowCommands})
	a.initialize()
	return a
}

// TestKillDuringGoal kills agents in the midst of a goal. The next agent resumes it, and each step
// is made exactly once.
func TestKillDuringGoal(t *testing.T) {
	rng := newRand(t)
	whole := func(t *testing.T, kill func() time.Duration) (took time.Duration) {
		a := newStepping(t, "")
		session := a.open()
		began := time.Now()
		a.request("7", "session/prompt", promptParams(session, stepsGoal))
		if kill == nil {
			a.ends("7")
			took = time.Since(began)
		} else {
			time.Sleep(kill()) // a random moment
			a.kill()
			a.waitExit(patience)
			a = goOn(t, a, session)
		}
		want := ""
		for n := range goalSteps {
			want += fmt.Sprintln(n)
		}
		if got := a.content("out.txt"); got != want {
			t.Errorf("the steps are %q, want %q; the last frames:\n%s", got, want, a.tail())
		}
		return took
	}
	took := whole(t, nil)
	for n := range extent(2, 50) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			whole(t, func() time.Duration { return time.Duration(rng.Int64N(int64(took))) })
		})
	}
}

// goOn starts an agent after one that was killed, and lets it end the goal.
func goOn(t *testing.T, killed *agent, session string) *agent {
	t.Helper()
	a := newStepping(t, killed.root)
	if _, ok := a.load(session); !ok { // nothing was stored, so no step was made
		if _, err := os.Stat(filepath.Join(a.dir, "out.txt")); !os.IsNotExist(err) {
			t.Fatalf("the session is lost, and a step was made: %v", err)
		}
		a.runTurn(a.open(), stepsGoal)
		return a
	}
	a.runTurn(session, "/goal")
	a.runTurn(session, "/goal resume")
	if said := a.lines(); !strings.Contains(said, "Goal met: ") && !strings.Contains(said, "there is no goal to resume.") {
		t.Errorf("the goal was not met: %s", a.tail())
	}
	return a
}

// A compaction keeps the goal: each request to the model has it word for word, also the check.
func TestCompactionKeepsGoal(t *testing.T) {
	const fact = "the server listens on port 4711"
	model := fakemodel.NewAnthropic(t)
	checks, compactions := 0, 0
	model.Choose = func(r fakemodel.Request) fakemodel.Reply {
		switch {
		case strings.Contains(r.Last(), "Answer with one line: MET"):
			if checks++; checks == 12 {
				return fakemodel.Answer(fakemodel.Say("MET"))
			}
			return fakemodel.Answer(fakemodel.Say(fmt.Sprintf("NOT MET: part %d", checks)))
		case len(r.Tools) == 0:
			compactions++
			return fakemodel.Answer(fakemodel.Say("The agent has counted."))
		}
		answer := ""
		for n := range 300 { // about 2,000 tokens
			answer += fmt.Sprintf("I counted %d of %d. ", n, len(model.Requests()))
		}
		return fakemodel.Counted(r.Size/4, fakemodel.Say(answer))
	}
	a := connect(t, start{env: model.Env(), config: allowCommands + "[agent]\ncontext_budget_tokens = 12000\n"})
	a.runTurn(a.open(), "/goal Count on. Remember that "+fact+".")
	a.checkContains(a.lines(), "Goal met (12 turns")
	if compactions < 2 {
		t.Errorf("%d compactions", compactions)
	}
	for i, request := range model.Requests() {
		if r := model.Request(i); !strings.Contains(request, fact) && (len(r.Tools) > 0 || strings.Contains(r.Last(), "Answer with one line")) {
			t.Errorf("request %d does not have the goal: %.2000s", i, request)
		}
	}
}

// In a chat /goal pause reaches the goal that the agent works on, and /goal resume goes on.
func TestChatPausesGoal(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "echo begun; until [ -e go ]; do sleep 0.02; done; echo ended"}}

{"text": "It is there."}

{"text": "MET"}
`
	s := openScreen(t, 80, model, nil)
	s.talk("chat '/goal wait for the file go'")
	s.await(`❯ 1  Allow once`)
	s.key("y")
	s.await(`│ begun\n+[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s .*\n─+\n›`)
	s.enter("/goal pause")
	s.await(`The goal will pause after the calls that run now\.`)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.await(`Goal paused \(1 turn, 1 of 100 rounds, 0 of 120 minutes\)\.(.|\n)*\n›`)
	s.enter("/goal resume")
	s.await(`Goal met \(2 turns, 1 of 100 rounds, 0 of 120 minutes\)\.\n+─+\n›`)
}
