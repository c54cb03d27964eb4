package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
)

// closed are tools that note on a channel when they are closed.
type closed struct {
	asking
	name string
	on   chan string
}

func (c closed) Close()     { c.on <- c.name }
func (closed) Files() Files { return nil }

// A session that is loaded during a turn keeps the tools of the turn until it ends, and a text still joins
// the turn. Later turns use the tools that were made for the load.
func TestLoadDuringTurn(t *testing.T) {
	dir := t.TempDir()
	w := connect(t, filepath.Join(t.TempDir(), "zeph.db"), "", `{}`)
	began, end, on := make(chan string, 9), make(chan struct{}, 9), make(chan string, 9)
	made := 0
	w.all.NewAgent = func(host Host) (AgentSession, error) {
		made++
		return AgentSession{Mode: "code", Agent: slow{steered{began, end}, host}, Tools: closed{name: fmt.Sprint("tools ", made), on: on}}, nil
	}
	id := w.open(dir)
	prompt := func(text string) string {
		return "session/prompt " + params("sessionId", id, "prompt", []acp.ContentBlock{acp.TextBlock(text)})
	}
	w.send(prompt("hi"))
	<-began
	w.send("session/load " + params("sessionId", id, "cwd", dir, "mcpServers", []int{}))
	answers, order := w.answers(1)
	if !strings.Contains(answers["session/load"], "modes") || !slices.Contains(order, "user_message hi") {
		t.Errorf("the load in mid-turn was answered with %v after %q", answers, order)
	}
	select {
	case name := <-on:
		t.Errorf("%s were closed during their turn", name)
	default:
	}
	s, err := w.all.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if text, joins := s.Steer([]acp.ContentBlock{acp.TextBlock("more")}); !joins || text == nil {
		t.Error("a text could not join the running turn")
	}
	end <- struct{}{}
	if answers, _ := w.answers(1); !strings.Contains(answers["session/prompt"], "end_turn") {
		t.Error(answers)
	}
	if name := <-on; name != "tools 1" {
		t.Errorf("after the turn %s were closed, want tools 1", name)
	}
	end <- struct{}{}
	w.want("prompt after it", w.prompt(id, "again"), "end_turn")
	if err := s.Close()(t.Context()); err != nil {
		t.Error(err)
	}
	if name := <-on; name != "tools 2" {
		t.Errorf("at the end %s were closed, want tools 2", name)
	}
}
