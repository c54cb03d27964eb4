package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// steered is an agent whose turns begin by saying their prompt and end when
// they are told or cancelled.
type steered struct {
	began chan string
	end   chan struct{}
}

func (a steered) Turn(ctx context.Context, history []llm.Message, prompt []acp.ContentBlock) ([]llm.Message, acp.StopReason, error) {
	history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: *prompt[0].Text}}})
	a.began <- fmt.Sprint(len(history), " ", *prompt[0].Text)
	select {
	case <-a.end:
		return history, acp.StopEndTurn, nil
	case <-ctx.Done():
		return history, "", errors.New("something broke because of the cancel")
	}
}

func newSessions(a Agent) *Sessions {
	n := 0
	return &Sessions{
		NewAgent: func(Setup) (Agent, string, error) { return a, "code", nil },
		NewID:    func() string { n++; return fmt.Sprint("s", n) },
		Modes:    []acp.SessionMode{{ID: "ask"}, {ID: "code"}},
	}
}

func open(t *testing.T, s *Sessions) acp.Session {
	t.Helper()
	r, err := s.New(t.Context(), nil, acp.NewSessionRequest{CWD: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	sess, err := s.Find(r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	return sess
}

type outcome struct {
	reason acp.StopReason
	err    error
}

// start begins a turn at once and runs it on a goroutine.
func start(ctx context.Context, s acp.Session, prompt string) <-chan outcome {
	t := s.Begin(ctx)
	done := make(chan outcome, 1)
	go func() {
		reason, err := t.Run([]acp.ContentBlock{acp.TextBlock(prompt)})
		t.End()
		done <- outcome{reason, err}
	}()
	return done
}

func TestTurnsOfASessionQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := steered{make(chan string, 10), make(chan struct{})}
		s := open(t, newSessions(a))
		var done []<-chan outcome
		for i := range 5 {
			done = append(done, start(t.Context(), s, fmt.Sprint("p", i)))
		}
		for i := range 5 {
			synctest.Wait()
			if got, want := <-a.began, fmt.Sprintf("%d p%d", i+1, i); got != want {
				t.Errorf("turn %d began as %q, want %q", i, got, want)
			}
			if len(a.began) > 0 {
				t.Errorf("two turns run at once: %s", <-a.began)
			}
			a.end <- struct{}{}
			if o := <-done[i]; o.err != nil || o.reason != acp.StopEndTurn {
				t.Error(o)
			}
		}
	})
}

// A cancel ends the running turn and the queued ones, each with ErrTurnCancelled,
// and no turn that begins after it.
func TestCancelEndsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := steered{make(chan string, 10), make(chan struct{})}
		s := open(t, newSessions(a))
		s.Cancel() // nothing to cancel
		done := []<-chan outcome{start(t.Context(), s, "a"), start(t.Context(), s, "b"), start(t.Context(), s, "c")}
		synctest.Wait()
		s.Cancel()
		s.Cancel()
		later := start(t.Context(), s, "later")
		for _, d := range done {
			if o := <-d; !errors.Is(o.err, acp.ErrTurnCancelled) {
				t.Error(o)
			}
		}
		a.end <- struct{}{}
		if o := <-later; o.reason != acp.StopEndTurn {
			t.Error(o)
		}
		if got := []string{<-a.began, <-a.began}; !slices.Equal(got, []string{"1 a", "2 later"}) {
			t.Errorf("%q", got)
		}
	})
}

// One queued turn that is cancelled by itself does not let the next overtake
// the running one.
func TestCancelOfOneQueuedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := steered{make(chan string, 10), make(chan struct{})}
		s := open(t, newSessions(a))
		first := start(t.Context(), s, "a")
		ctx, cancel := context.WithCancelCause(t.Context())
		second, third := start(ctx, s, "b"), start(t.Context(), s, "c")
		cancel(acp.ErrTurnCancelled)
		if o := <-second; !errors.Is(o.err, acp.ErrTurnCancelled) {
			t.Error(o)
		}
		synctest.Wait()
		if len(a.began) != 1 {
			t.Errorf("%d turns run", len(a.began))
		}
		a.end <- struct{}{}
		<-first
		a.end <- struct{}{}
		<-third
	})
}

func TestSessionsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := steered{make(chan string, 10), make(chan struct{})}
		all := newSessions(a)
		one, two := open(t, all), open(t, all)
		d1, d2 := start(t.Context(), one, "a"), start(t.Context(), two, "b")
		synctest.Wait()
		if len(a.began) != 2 {
			t.Error("the second session waits for the first")
		}
		one.Cancel()
		if o := <-d1; !errors.Is(o.err, acp.ErrTurnCancelled) {
			t.Error(o)
		}
		a.end <- struct{}{}
		if o := <-d2; o.reason != acp.StopEndTurn {
			t.Error("a cancel in another session reached this one:", o)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := steered{make(chan string, 10), make(chan struct{})}
		all := newSessions(a)
		s := open(t, all)
		done := start(t.Context(), s, "a")
		synctest.Wait()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		select {
		case o := <-done:
			if !errors.Is(o.err, acp.ErrTurnCancelled) {
				t.Error(o)
			}
		default:
			synctest.Wait()
			if len(done) == 0 {
				t.Error("close did not wait for the turn")
			}
		}
		if _, err := all.Find("s1"); !errors.Is(err, acp.ErrUnknownSession) {
			t.Error(err)
		}
	})
}

func TestSetMode(t *testing.T) {
	s := open(t, newSessions(steered{}))
	if err := s.SetMode("ask"); err != nil || s.(*Session).Mode() != "ask" {
		t.Error(err)
	}
	if wrong, ok := errors.AsType[*acp.ParamsError](s.SetMode("nope")); !ok || wrong.Field != "modeId" {
		t.Error(wrong)
	}
}
