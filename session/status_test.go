package session

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
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

// Where the server counts no tokens, /status shows an estimate.
func TestStatusEstimatesTheContext(t *testing.T) {
	for name, tt := range map[string]struct {
		window int
		want   string
	}{
		"known window":   {1000, "- Context: about 100 of 1000 tokens (10 %)\n"},
		"unknown window": {0, "- Context: about 100 tokens\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newSessions(nil)).(*Session)
			s.settings.model = windowed{tt.window}
			s.history = []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: strings.Repeat("word ", 22)}}}}
			if text, _ := s.status(context.Background(), ""); !strings.Contains(text, tt.want) {
				t.Errorf("the status has no line %q:\n%s", tt.want, text)
			}
		})
	}
}

// windowed is a model with a window.
type windowed struct{ size int }

func (windowed) Name() string  { return "fake:m" }
func (w windowed) Window() int { return w.size }

func (windowed) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] { return nil }
