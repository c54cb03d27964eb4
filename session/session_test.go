package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// steered is an agent whose turns first say their prompt, and end when the test
// says so or when they are cancelled.
type steered struct {
	began chan string
	end   chan struct{}
}

func (a steered) Turn(ctx context.Context, history []llm.Message, in agent.Input) ([]llm.Message, acp.StopReason, error) {
	history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: *in.Content[0].Text}}})
	a.began <- fmt.Sprint(len(history), " ", *in.Content[0].Text)
	select {
	case <-a.end:
		return history, acp.StopEndTurn, nil
	case <-ctx.Done():
		return history, "", errors.New("something broke because of the cancel")
	}
}

func (steered) Compact(_ context.Context, history []llm.Message, _ string) ([]llm.Message, error) {
	return history, agent.ErrNoModel
}
func (steered) Check(context.Context, []llm.Message, agent.Check) (string, acp.StopReason, error) {
	return "", "", agent.ErrNoModel
}
func (steered) RunScript(context.Context, string, string) (agent.ScriptResult, error) {
	return agent.ScriptResult{}, nil
}
func (steered) Say(context.Context, string) error  { return nil }
func (steered) Warn(context.Context, string) error { return nil }
func (steered) Tools() []llm.Tool                  { return nil }
func (steered) CancelSubturn(string)               {}
func (steered) CallCancel(string) func()           { return nil }
func (steered) TerminalCancel(string) func()       { return nil }
func (steered) Typed() []llm.Tool                  { return nil }

func newSessions(a Agent) *Sessions {
	n := 0
	return &Sessions{
		NewAgent: func(Host) (AgentSession, error) { return AgentSession{Agent: a, Mode: "code"}, nil },
		Model:    func(string) (llm.Model, error) { return local.Direct{}, nil },
		Models:   func() []llm.Choice { return []llm.Choice{{Name: "direct", Title: "Direct"}} },
		NewID:    func() string { n++; return fmt.Sprint("s", n) },
		Modes:    []acp.SessionMode{{ID: "ask"}, {ID: "code"}},
		Now:      time.Now,
		Log:      slog.New(slog.DiscardHandler),
	}
}

// open opens a session of a client that ignores its input.
func open(t *testing.T, s *Sessions) acp.Session {
	t.Helper()
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	server := &acp.Server{Config: setting.Default[acp.Config](), Sessions: s, Ready: func() error { return nil }, Log: s.Log}
	var work sync.WaitGroup
	work.Go(func() { out.CloseWithError(server.Serve(t.Context(), in, out)) })
	lines := bufio.NewReader(fromAgent)
	request, err := json.Marshal(map[string]any{"cwd": t.TempDir(), "mcpServers": []int{}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(toAgent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":%s}`+"\n", request)
	line, err := lines.ReadBytes('\n')
	var answer struct{ Result acp.NewSessionResponse }
	if err := errors.Join(err, json.Unmarshal(line, &answer)); err != nil || answer.Result.SessionID == "" {
		t.Fatalf("%v: %s", err, line)
	}
	work.Go(func() { io.Copy(io.Discard, lines) })
	t.Cleanup(func() { toAgent.Close(); work.Wait() })
	sess, err := s.Find(answer.Result.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	return sess
}

type outcome struct {
	reason acp.StopReason
	err    error
}

// start begins a turn at once and runs it in a goroutine.
func start(ctx context.Context, s acp.Session, prompt string) <-chan outcome {
	t := s.Begin(ctx, acp.Prompt{Content: []acp.ContentBlock{acp.TextBlock(prompt)}})
	done := make(chan outcome, 1)
	go func() {
		reason, err := t.Run(acp.Prompt{Content: []acp.ContentBlock{acp.TextBlock(prompt)}})
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

// A cancel ends the running turn and the queued ones, each with
// ErrTurnCancelled, and no later turn.
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

// When one queued turn is cancelled by itself, the next does not overtake the
// running one.
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
		if err := s.Close()(t.Context()); err != nil {
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
		if _, err := all.Find(s.ID()); !errors.Is(err, acp.ErrUnknownSession) {
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
