package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// subAgents is a configuration in which sub-agents may run commands.
const subAgents = `[agent]
mode = "auto"
[[tools.permissions.bash]]
pattern = "*"
action = "allow"
`

// task is a call of sub_agent.
type task struct {
	Task string `json:"task"`
	Type string `json:"type,omitempty"`
}

// delegating returns a model that answers "work" by tasks, and makes the calls of a task
// one after the other before it reports.
func delegating(t *testing.T, tasks []task, calls func(task string, n int) (fakemodel.Block, bool)) *fakemodel.Anthropic {
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		last, results := r.Last(), 0
		for _, m := range r.Messages {
			for _, b := range m.Content {
				if b.Type == "tool_result" {
					results++
				}
			}
		}
		switch {
		case last == "work" && results == 0:
			var all []fakemodel.Block
			for i, task := range tasks {
				all = append(all, fakemodel.Call(fmt.Sprint("t", i), "sub_agent", task))
			}
			return fakemodel.Answer(all...)
		case strings.HasPrefix(last, "task "):
			if call, ok := calls(last, results); ok {
				return fakemodel.Answer(call)
			}
			return fakemodel.Answer(fakemodel.Say("report of " + last))
		}
		return fakemodel.Answer(fakemodel.Say("All is done."))
	}
	return p
}

// marking returns calls that each leave a line in a file, or read one.
func marking(task string, n int) (fakemodel.Block, bool) {
	id := fmt.Sprintf("c%d", n)
	if strings.HasPrefix(task, "task read") {
		return fakemodel.Call(id, "read", map[string]any{"path": "a.txt", "offset": n}), n < 4
	}
	return fakemodel.Call(id, "bash", map[string]string{"command": fmt.Sprintf("sh mark.sh '%s, call %d'", task, n)}), n < 4
}

// markedBy returns the lines of the file that sub-agents write.
func (a *agent) markedBy() []string {
	data, err := os.ReadFile(filepath.Join(a.dir, "marks.txt"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

var parallelTasks = []task{{Task: "task read 1", Type: "explore"}, {Task: "task write 1"}, {Task: "task read 2", Type: "explore"}, {Task: "task write 2"}}

// TestSubAgents runs sub-agents side by side. Each call is on record once, by the caller
// that made it.
func TestSubAgents(t *testing.T) {
	t.Parallel()
	p := delegating(t, parallelTasks, marking)
	a := connect(t, start{env: p.Env(), config: subAgents})
	a.file("a.txt", "1\n2\n3\n4\n5\n")
	a.file("mark.sh", `echo "$1" >> marks.txt`)
	text := a.turnOf(a.open(), "work")
	for _, task := range parallelTasks {
		a.checkContains(text, "report of "+task.Task)
	}
	marks := a.markedBy()
	if len(marks) != 8 || len(slices.Compact(slices.Sorted(slices.Values(marks)))) != 8 {
		t.Errorf("marks: %q", marks)
	}
	if first := marks[:4]; !slices.IsSorted(first) || first[0][:12] != first[3][:12] {
		t.Errorf("two sub-agents wrote at the same time: %q", marks)
	}
	callers := map[string]int{}
	for _, line := range a.auditLines() {
		var e struct{ Tool, Session, Caller_ID string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Tool != "sub_agent" && e.Tool != "" {
			callers[e.Caller_ID]++
			if !strings.HasPrefix(e.Caller_ID, e.Session+"/") {
				t.Errorf("a call of a sub-agent by %q", e.Caller_ID)
			}
		}
	}
	if len(callers) != 4 {
		t.Errorf("calls by caller: %v", callers)
	}
}

// TestSubAgentsKilled kills the agent at random moments while sub-agents work. The next
// process shows the calls that had begun, to the client and to the model, and runs none
// of them a second time.
func TestSubAgentsKilled(t *testing.T) {
	rng := newRand(t)
	for n := range extent(6, 60) {
		chance := rand.New(rand.NewPCG(rng.Uint64(), 1))
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			killSubAgents(t, 8+chance.IntN(24))
		})
	}
}

// killSubAgents kills an agent after that many frames.
func killSubAgents(t *testing.T, frames int) {
	p := delegating(t, parallelTasks, marking)
	a := launch(t, start{env: p.Env(), config: subAgents, afterLine: func(a *agent, n int) {
		if n == frames {
			a.kill()
		}
	}})
	a.initialize()
	a.file("a.txt", "1\n2\n3\n4\n5\n")
	a.file("mark.sh", `echo "$1" >> marks.txt`)
	s := a.open()
	a.request("2", "session/prompt", promptParams(s, "work"))
	a.waitExit(patience)
	seen := steps(a)
	marks := a.markedBy()

	b := connect(t, start{root: a.root, env: p.Env()})
	b.request("1", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, s, b.dir))
	if f := b.answer("1"); f.Error != nil {
		t.Fatalf("killed after frame %d: %s", frames, f.line)
	}
	replayed := steps(b)
	for id, text := range seen {
		text = strings.ReplaceAll(text, " (failed)", "")
		if !strings.HasPrefix(replayed[id], text) && !strings.Contains(replayed[id], "report of ") {
			t.Errorf("killed after frame %d: the client saw %q, and then %q", frames, text, replayed[id])
		}
	}
	b.turnOf(s, "and now?")
	requests := p.Requests()
	for id, text := range replayed {
		if last := requests[len(requests)-1]; strings.Contains(text, "\n[not ended") && !strings.Contains(last, strings.Trim(quote(text), `"`)) {
			t.Errorf("killed after frame %d: the model does not see the steps of %s, %q", frames, id, text)
		}
	}
	after := b.markedBy()
	if !slices.Equal(marks, after) && len(after) > len(marks)+1 { // a command that ran may still end
		t.Errorf("commands ran again: %q, then %q", marks, after)
	}
	if sorted := slices.Sorted(slices.Values(after)); len(slices.Compact(sorted)) != len(after) {
		t.Errorf("commands ran twice: %q", after)
	}
}

// steps returns the last text of each call of sub_agent that a client was shown.
func steps(a *agent) map[string]string {
	shown := map[string]string{}
	for _, f := range a.agentFrames() {
		var p struct {
			Update struct {
				SessionUpdate, ToolCallID, Name string
				Content                         json.RawMessage
			}
		}
		if f.Method != "session/update" || json.Unmarshal(f.Params, &p) != nil || !strings.HasPrefix(p.Update.SessionUpdate, "tool_call") {
			continue
		}
		u := p.Update
		if u.Name == "sub_agent" {
			shown[u.ToolCallID] = ""
		}
		var content []struct{ Content struct{ Text string } }
		if _, ok := shown[u.ToolCallID]; !ok || json.Unmarshal(u.Content, &content) != nil {
			continue
		}
		shown[u.ToolCallID] = ""
		for _, c := range content {
			shown[u.ToolCallID] += c.Content.Text
		}
	}
	return shown
}

// TestSubAgentBounds runs a hostile sub-agent: it can leave neither its tools, nor the
// roots, nor the mode, and it cannot start others.
func TestSubAgentBounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode, typ string
		tool      string
		input     any
		want      string // part of the audit line
	}{
		"another tool": {
			"auto",
			"reader",
			"bash",
			map[string]string{"command": "touch made"},
			`"gates":[{"gate":"delegation","decision":"deny"`,
		},
		"a tool of the session": {
			"auto",
			"general",
			"update_plan",
			map[string]any{"entries": []any{}},
			`"gates":[{"gate":"delegation","decision":"deny"`,
		},
		"a further sub-agent":   {"auto", "general", "sub_agent", task{Task: "task more"}, `"gates":[{"gate":"delegation","decision":"deny"`},
		"outside of the roots":  {"auto", "general", "write", map[string]string{"path": "../made", "content": "x"}, `"result":"denied"`},
		"a read-only mode":      {"ask", "general", "write", map[string]string{"path": "made", "content": "x"}, `"result":"denied"`},
		"its own configuration": {"auto", "general", "write", map[string]string{"path": "../zeph/config.toml", "content": "x"}, `"result":"denied"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := delegating(t, []task{{"task 1", tt.typ}}, func(_ string, n int) (fakemodel.Block, bool) {
				return fakemodel.Call("c1", tt.tool, tt.input), n == 0
			})
			a := connect(t, start{env: p.Env(), config: "[agent]\nmode = \"" + tt.mode + "\"\n[[agents]]\nname = \"reader\"\ntools = [\"read\"]\n"})
			_, questions := a.turnAnswering(a.open(), "work", "allow_always")
			if len(questions) > 0 {
				t.Errorf("the user was asked: %s", questions[0].line)
			}
			found := slices.ContainsFunc(a.auditLines(), func(line string) bool {
				return strings.Contains(line, `"tool":"`+tt.tool+`"`) && strings.Contains(line, "/"+tt.typ+"-") && strings.Contains(line, tt.want)
			})
			if !found {
				t.Errorf("no denied call of the sub-agent on record:\n%s", auditLog(t, a.home))
			}
			for _, path := range []string{filepath.Join(a.dir, "made"), filepath.Join(a.root, "made")} {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s was made", path)
				}
			}
		})
	}
}

// TestSubAgentsCancelled cancels a turn while sub-agents wait for their models.
func TestSubAgentsCancelled(t *testing.T) {
	t.Parallel()
	p := fakemodel.NewAnthropic(t)
	began := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		if r.Last() == "work" {
			return fakemodel.Answer(fakemodel.Call("1", "sub_agent", task{Task: "task 1", Type: "explore"}),
				fakemodel.Call("2", "sub_agent", task{Task: "task 2", Type: "explore"}))
		}
		return fakemodel.Hang(began[strings.Count(r.Last(), "2")])
	}
	a := connect(t, start{env: p.Env(), config: subAgents})
	s := a.open()
	a.request("2", "session/prompt", promptParams(s, "work"))
	<-began[0]
	<-began[1]
	a.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quote(s) + "}}\n")
	if f := a.answer("2"); stopReason(f) != "cancelled" {
		t.Error(f.line)
	}
}

// TestSubAgentCancelledAlone cancels one of two child sessions. The turn goes on with the
// report of the other one.
//
// Statement 144.
func TestSubAgentCancelledAlone(t *testing.T) {
	t.Parallel()
	p := fakemodel.NewAnthropic(t)
	began := make(chan struct{})
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		switch last := r.Last(); {
		case last == "work" && !strings.Contains(strings.Join(r.History(), " "), "tool_result"):
			return fakemodel.Answer(fakemodel.Call("1", "sub_agent", task{Task: "task 1", Type: "explore"}),
				fakemodel.Call("2", "sub_agent", task{Task: "task 2", Type: "explore"}))
		case last == "task 1":
			return fakemodel.Hang(began)
		case last == "task 2":
			return fakemodel.Answer(fakemodel.Say("report of task 2"))
		}
		return fakemodel.Answer(fakemodel.Say("Done."))
	}
	a := launch(t, start{env: p.Env(), config: subAgents})
	a.initialize(`{"subagents":{}}`)
	s := a.open()
	a.request("2", "session/prompt", promptParams(s, "work"))
	<-began
	a.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quote(s+"/explore-none") + "}}\n")
	a.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quote(a.childWith("task 1")) + "}}\n")
	if f := a.answer("2"); stopReason(f) != "end_turn" {
		t.Error(f.line)
	}
	a.checkContains(p.Requests()[len(p.Requests())-1], "[the sub-agent stopped before it was done: the user cancelled it]", "report of task 2")
	a.checkContains(a.lines(), `"state":{"state":"idle","stopReason":"cancelled"}`, `"state":{"state":"idle","stopReason":"end_turn"}`)
}

// childWith returns the id of the child session that got a task.
func (a *agent) childWith(task string) string {
	a.t.Helper()
	f := a.await("the message of a task", func(f frame) bool {
		return strings.Contains(f.line, `"senderMessageId"`) && strings.Contains(f.line, quote(task))
	})
	var p struct{ SessionID string }
	if err := json.Unmarshal(f.Params, &p); err != nil {
		a.t.Fatal(err)
	}
	return p.SessionID
}
