package session

import (
	"context"
	"strings"
	"testing"
	"time"
)

// asking are tools whose status needs the model of the one session.
type asking struct {
	Tools
	sessions *Sessions
}

func (a asking) Status() []string {
	s, ok := a.sessions.find("s1")
	if !ok {
		return nil
	}
	return []string{"Judged by: " + s.model().Name()}
}
func (asking) Builtins() []Builtin { return nil }
func (asking) Commands() []Command { return nil }
func (asking) Close()              {}

// TestStatusOfToolsThatAsk checks that /status answers when a tool's status asks the session,
// as a gate's status does for the session's model.
func TestStatusOfToolsThatAsk(t *testing.T) {
	all := newSessions(nil)
	all.NewAgent = func(Host) (AgentSession, error) {
		return AgentSession{Agent: steered{}, Mode: "code", Tools: asking{sessions: all}}, nil
	}
	s := open(t, all).(*Session)
	answer := make(chan string, 1)
	go func() {
		text, _ := s.status(context.Background(), "")
		answer <- text
	}()
	select {
	case text := <-answer:
		if !strings.Contains(text, "- Judged by: ") {
			t.Errorf("the status lacks the line of the tools:\n%s", text)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("/status hangs")
	}
}
