package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
)

// TestTwoProcesses has two processes on one store, each with its own
// sessions. A third one loads all that the two have shown.
//
// Statement 135.
func TestTwoProcesses(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	p.Choose = crowdModel
	root, rng := home(t), newRand(t)
	processes, members := make([]*agent, 2), make([][]*crowdSession, 2)
	t.Run("turns", func(t *testing.T) {
		for i := range processes {
			chance := rand.New(rand.NewPCG(rng.Uint64(), 1))
			t.Run(fmt.Sprint("process ", i), func(t *testing.T) {
				t.Parallel()
				a := connect(t, start{env: p.Env(), root: root})
				processes[i], members[i] = a, crowd(t, a, string(rune('a'+i)), 8, 3, chance)
			})
		}
	})
	c := connect(t, start{env: p.Env(), root: root})
	for i, a := range processes {
		for _, m := range members[i] {
			var prompts []string
			for _, p := range m.prompts {
				prompts = append(prompts, p.text)
			}
			replay, ok := c.load(m.session)
			if !ok {
				t.Fatalf("session %s is lost", m.name)
			}
			checkReplay(t, prompts, shownIn(a.agentFrames(), m.session, m.mine), replay)
		}
	}
}

// TestOneSessionTwice has one session open in two processes.
//
// Statements 67, 135.
func TestOneSessionTwice(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("I am one.")))
	root := home(t)
	process := func() *agent {
		a := connect(t, start{env: p.Env(), root: root})
		return a
	}
	a, b := process(), process()
	s := a.open()
	ask := func(of *agent, id, text string) frame {
		of.request(id, "session/prompt", promptParams(s, text))
		return of.answer(id)
	}
	ask(a, "1", "who are you?")
	if got, ok := b.load(s); !ok || len(got.prompts) != 1 || got.items[len(got.items)-1].Text == "" {
		t.Fatalf("loaded %+v", got)
	}
	silent := make(chan struct{})
	p.Then(fakemodel.Hang(silent, fakemodel.Say("I think")))
	a.request("2", "session/prompt", promptParams(s, "think"))
	within(t, patience, "the model", silent)
	a.await("what the model said so far", func(f frame) bool { return strings.Contains(f.line, `"hink"`) })
	f := ask(b, "2", "me too")
	if f.Error == nil || f.Error.Code != -32603 || !strings.Contains(f.Error.Message, "another process") {
		t.Errorf("a prompt while the other process runs a turn: %s", f.line)
	}
	if got, ok := b.load(s); !ok || !slices.Equal(got.prompts, []string{"who are you?", "think"}) {
		t.Errorf("loaded during the turn: %+v", got)
	}
	a.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quote(s) + "}}\n")
	a.cancelled("2")

	p.Then(fakemodel.Answer(fakemodel.Say("I am two.")))
	if f := ask(b, "3", "and you?"); !strings.Contains(string(f.Result), "end_turn") {
		t.Fatalf("a prompt after the other process's turn: %s", f.line)
	}
	p.Then(fakemodel.Answer(fakemodel.Say("One again.")))
	if f := ask(a, "3", "still there?"); !strings.Contains(string(f.Result), "end_turn") {
		t.Fatalf("a prompt of the first process: %s", f.line)
	}
	var said []string
	for _, m := range p.Request(len(p.Requests()) - 1).Messages {
		for _, b := range m.Content {
			said = append(said, b.Text)
		}
	}
	want := []string{prompt.Mode("code"), "who are you?", "I am one.", "think", "I think", "and you?", "I am two.", "still there?"}
	if got := strings.Join(said, "|"); got != strings.Join(want, "|") {
		t.Errorf("the model got %q, want %q", said, want)
	}
	for _, of := range []*agent{a, b, process()} {
		got, ok := of.load(s)
		if !ok || !slices.Equal(got.prompts, []string{"who are you?", "think", "and you?", "still there?"}) {
			t.Errorf("loaded %+v", got)
		}
	}
}
