package session

import (
	"context"
	"strings"
	"testing"
	"time"
)

// asking are tools whose status needs the model of the session.
type asking struct {
	Tools
	session *Session
}

func (a asking) Status() []string { return []string{"Judged by: " + a.session.model().Name()} }

// TestStatusOfToolsThatAsk checks that /status answers when a tool's status asks the session,
// as a gate's status does for the session's model.
func TestStatusOfToolsThatAsk(t *testing.T) {
	all := newSessions(steered{})
	s := open(t, all).(*Session)
	s.tools = asking{s.tools, s}
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
